import csv
import json

import numpy as np
import pytest

from stickbreak.cli.tables import csv_lines, document_weights, write_weights
from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError

NAMES = ('a "quoted", name', "b\nc")
WEIGHTS = np.array([[1 / 3, 2 / 3], [0.1, 0.9]])


class Model:
    def transform(self, X):
        return WEIGHTS[[NAMES.index(name) for name in X.document_names]]


@pytest.fixture
def corpus():
    return Corpus.from_counts([[1, 0, 0], [0, 1, 0]], names=NAMES)


def read_back(path):
    if path.suffix == ".csv":
        with open(path, encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file)
        assert header == ["document", "topic_0", "topic_1"]
        return [row[0] for row in rows], np.array([[float(x) for x in row[1:]] for row in rows])
    if path.suffix == ".jsonl":
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        return [row["document"] for row in rows], np.array([row["weights"] for row in rows])
    if path.suffix == ".npz":
        with np.load(path) as found:
            return found["names"].tolist(), found["weights"]
    import pyarrow.parquet as pq

    table = pq.read_table(path).to_pydict()
    return table.pop("document"), np.array([table["topic_0"], table["topic_1"]]).T


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".npz", ".parquet"])
@pytest.mark.parametrize("block", [1, 100])
def test_weights_come_back_exactly(tmp_path, corpus, suffix, block, monkeypatch):
    monkeypatch.setattr(
        "stickbreak.prediction.words.document_blocks",
        lambda n, k: (slice(i, min(n, i + block)) for i in range(0, n, block)),
    )
    path = tmp_path / f"weights{suffix}"
    write_weights(document_weights(Model(), corpus), path)
    names, weights = read_back(path)
    assert tuple(names) == NAMES
    assert np.array_equal(weights, WEIGHTS)
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_a_failure_leaves_the_old_file(tmp_path, corpus):
    class Broken(Model):
        def transform(self, X):
            raise InputError("no")

    path = tmp_path / "weights.csv"
    path.write_text("old")
    with pytest.raises(InputError, match="no"):
        write_weights(document_weights(Broken(), corpus), path)
    assert [entry.read_text() for entry in tmp_path.iterdir()] == ["old"]


def test_another_ending_is_refused(tmp_path, corpus):
    with pytest.raises(InputError, match=r"\.csv, \.jsonl, \.npz, \.parquet"):
        write_weights(document_weights(Model(), corpus), tmp_path / "weights.xlsx")


def test_csv_quotes_names(corpus):
    assert list(csv_lines(document_weights(Model(), corpus)))[1].startswith('"a ""quoted"", name",')
