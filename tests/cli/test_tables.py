"""Tables as they are printed and written: exact, complete or not at all, safe for terminals and spreadsheets."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from stickbreak.cli.documents import Documents
from stickbreak.cli.tables import csv_text, document_weights, print_topics, tell_table, write_weights
from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError
from stickbreak.prediction.topics import FlatTopics

NAMES = ('a "quoted", name', "b\nc", "=1", "a\x1b[31m", "\u202ex", "d\x7f")
WEIGHTS = np.array([[1 / 3, 2 / 3], [0.1, 0.9], [0.5, 0.5], [1.0, 0.0], [1e-12, 1 - 1e-12], [0.25, 0.75]])


class Model:
    def transform(self, X):
        return WEIGHTS[[NAMES.index(name) for name in X.document_names]]


@pytest.fixture
def corpus():
    return Corpus.from_counts([[1, 0, 0]] * len(NAMES), names=NAMES)


def read_back(path):
    if path.suffix == ".csv":
        with open(path, encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file)
        assert header == ["document", "topic_0", "topic_1"]
        return [row[0] for row in rows], np.array([[float(x) for x in row[1:]] for row in rows])
    if path.suffix == ".jsonl":
        text = path.read_text()
        assert text.replace("\n", "").isprintable()
        rows = [json.loads(line) for line in text.splitlines()]
        return [row["document"] for row in rows], np.array([row["weights"] for row in rows])
    if path.suffix == ".npz":
        with np.load(path) as found:
            return found["names"].tolist(), found["weights"]
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
    assert np.array_equal(weights, WEIGHTS)
    if suffix == ".csv":
        assert names == ['a "quoted", name', "b\nc", "'=1", "a\ufffd[31m", "\ufffdx", "d\ufffd"]
    else:
        assert tuple(names) == NAMES
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


def as_csv(text):
    """A cell as it stands in CSV, and as it is read again."""
    line = csv_text(pd.DataFrame({"name": [text], "weight": [0.5]}), header=False)
    [[cell, weight]] = csv.reader(io.StringIO(line, newline=""))
    assert float(weight) == 0.5
    return line, cell


@pytest.mark.parametrize(
    "text",
    ["=cmd|' /C calc'!A0", "+1+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "  =1", "\u3000@x", "＝1", "＋1", "－1"],
)
def test_what_would_be_a_formula_gets_a_quote_in_front(text):
    assert as_csv(text)[1].startswith("'")


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        *(
            (text, text)
            for text in ("a=b", "1-2", "user@example.org", "naïve 日本", "'=1", "می\u200cشود", "a\tb", "a\nb")
        ),
        ("a\r\nb", "a\nb"),
        *((f"a{sign}b", "a\ufffdb") for sign in "\x1b\x00\x07\x7f\x9b\u202e\u2066\u2028\r"),
    ],
)
def test_other_texts_stay_but_for_what_steers_a_terminal(text, cell):
    assert as_csv(text)[1] == cell


@pytest.mark.parametrize("text", ["a;=1", "a\t=1"])
def test_separators_of_other_countries_are_quoted(text):
    line, cell = as_csv(text)
    assert line.startswith('"')
    assert cell == text


def test_tables_for_persons_have_words_for_what_numbers_hide(capsys):
    table = pd.DataFrame({"topic_a": [0, -1], "change": [0.0123, None], "p": [0.0009, 0.0011], "other": [-1, 3]})
    given = {"as_json": False, "as_csv": False, "out": None, "rows": 9}
    tell_table(table, **given)
    head, first, second = (line.split() for line in capsys.readouterr().out.splitlines())
    assert head == ["topic", "a", "points", "per", "year", "p", "other"]
    assert (first, second) == (["0", "+1.23", "<0.001", "-1"], ["none", "0.0011", "3"])
    tell_table(table, **given | {"as_csv": True})
    assert capsys.readouterr().out.splitlines()[1:] == ["0,0.0123,0.0009,-1", "-1,,0.0011,3"]
    tell_table(table, **given | {"as_json": True})
    assert json.loads(capsys.readouterr().out)["rows"][1] == {"topic_a": -1, "change": None, "p": 0.0011, "other": 3}


class Topics(FlatTopics):
    vocabulary_ = ("a", "[red]b", "c\x1b[2J")
    topic_word_ = np.array([[0.1, 0.7, 0.2], [0.5, 0.2, 0.3]])
    topic_weights_ = np.array([0.6, 0.3])
    topic_shares_ = np.array([0.4, 0.6])


@pytest.mark.parametrize("terminal", [False, True])
def test_topics_come_by_share_and_words_are_neither_markup_nor_steer_the_terminal(capsys, monkeypatch, terminal):
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal)
    print_topics([Documents.cells(topic, verbose=True) for topic in Documents.topics(Topics(), 2)])
    out = capsys.readouterr().out.replace("\x1b[1m", "").replace("\x1b[0m", "")
    lines = [line.split() for line in out.splitlines() if "%" in line]
    assert lines == [["1", "60.00%", "30.00%", "a", "c\ufffd[2J"], ["0", "40.00%", "60.00%", "[red]b", "c\ufffd[2J"]]
