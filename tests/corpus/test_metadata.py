"""Columns beside the counts: kept by every reader, typed by all values, aligned with the documents."""

import datetime
import gzip
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from stickbreak.corpus import Corpus, align, count_texts, open_corpus, read, write_corpus
from stickbreak.corpus.metadata import Gatherer, Layout
from stickbreak.corpus.reading.blocks import Written
from stickbreak.exceptions import InputError, InvalidCorpus, ReadError

ROWS = [
    {"id": "a", "text": "bread and butter", "date": "2024-05-01", "kind": "food", "stars": 4},
    {"id": "b", "text": "bread with salt", "date": "2024-05-02", "kind": "food", "stars": 5},
    {"id": "c", "text": "ships sail away", "date": None, "kind": "sea", "stars": 3},
]
DATES = [datetime.date(2024, 5, 1), datetime.date(2024, 5, 2), None]


def write(path: Path, kind: str) -> Path:
    """Write ROWS in one of the formats that have fields."""
    frame = pd.DataFrame(ROWS)
    match kind:
        case "jsonl":
            path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
        case "jsonl.gz":
            path.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in ROWS).encode()))
        case "array.json":
            path.write_text(json.dumps(ROWS))
        case "csv":
            frame.to_csv(path, index=False)
        case "tsv":
            frame.to_csv(path, index=False, sep="\t")
        case "parquet":
            frame.to_parquet(path)
    return path


FORMATS = ["jsonl", "jsonl.gz", "array.json", "csv", "tsv", "parquet"]


@pytest.mark.parametrize("kind", FORMATS)
def test_every_reader_keeps_columns(tmp_path, kind):
    path = write(tmp_path / f"rows.{kind}", kind)
    corpus = read(path, keep=["stars", "date"])
    assert corpus.metadata.column_names == ["stars", "date"]
    assert corpus.metadata.schema.types == [pa.int64(), pa.date32()]
    assert corpus.metadata["date"].to_pylist() == DATES
    assert corpus.metadata["stars"].to_pylist() == [4, 5, 3]
    assert read(path, keep="all").metadata.column_names == ["date", "kind", "stars"]
    assert read(path).metadata is None
    with pytest.raises(ReadError, match="has no field 'colour'; name another one: 'id', 'text'"):
        read(path, keep=["colour"])


def test_what_has_no_fields_keeps_nothing(tmp_path):
    path = tmp_path / "lines.txt"
    path.write_text("bread and butter\nbread\n")
    assert read(path, keep="all").metadata is None
    with pytest.raises(ReadError, match="has no columns beside the documents, but 'date' is asked for; give a table"):
        read(path, keep=["date"])


@pytest.mark.parametrize("keep", ["date", 3, [""]])
def test_what_names_no_fields_is_refused(tmp_path, keep):
    path = write(tmp_path / "rows.csv", "csv")
    with pytest.raises(InputError, match="give 'all' or a list of fields"):
        read(path, keep=keep)


def typed(values: list[object]) -> tuple[str, list[object]]:
    gatherer = Gatherer(["x"])
    for value in values:
        gatherer.add({"x": [value]}, 1)
    column = gatherer.typed()["x"]
    return str(column.type), column.to_pylist()


NOON = datetime.datetime(2024, 5, 1, 12)


@pytest.mark.parametrize(
    ("values", "kind", "found"),
    [
        (["2024-05-01", None], "date32[day]", [DATES[0], None]),
        (["2024-05", "2024-05-02"], "date32[day]", DATES[:2]),
        (["2024/5/1"], "date32[day]", DATES[:1]),
        (["2024-05-01T12:00", "2024-05-01"], "timestamp[us]", [NOON, datetime.datetime(2024, 5, 1)]),
        (["2024-05-01 12:00:00.000"], "timestamp[us]", [NOON]),
        (["2024-05-01T14:00:00+02:00"], "timestamp[us, tz=UTC]", [NOON.replace(tzinfo=datetime.UTC)]),
        (["2024-05-01T12:00Z"], "timestamp[us, tz=UTC]", [NOON.replace(tzinfo=datetime.UTC)]),
        (["2024-05-01T12:00Z", "2024-05-01"], "string", ["2024-05-01T12:00Z", "2024-05-01"]),
        (["2024-02-30"], "string", ["2024-02-30"]),
        (["01.05.2024"], "string", ["01.05.2024"]),
        (["2024"], "string", ["2024"]),
        ([2024, 7], "int64", [2024, 7]),
        ([2024, 0.5], "double", [2024.0, 0.5]),
        ([2024, "x"], "string", ["2024", "x"]),
        ([True, None], "bool", [True, None]),
        ([True, 1], "string", ["true", "1"]),
        ([2**63], "string", [str(2**63)]),
        ([{"a": [1]}, ["b"]], "string", ['{"a": [1]}', '["b"]']),
        ([None], "string", [None]),
        ([""], "string", [""]),
        ([Written("")], "string", [None]),
        ([Written("12"), Written("-3")], "int64", [12, -3]),
        ([Written("12"), Written("1e3"), Written(".5")], "double", [12.0, 1000.0, 0.5]),
        ([Written("007")], "string", ["007"]),
        ([Written("."), Written("e5")], "string", [".", "e5"]),
        ([Written("True"), Written("false")], "bool", [True, False]),
        ([Written("2024-05")], "date32[day]", DATES[:1]),
        (["\ud800"], "string", ["?"]),
        ([NOON, DATES[0]], "timestamp[us]", [NOON, datetime.datetime(2024, 5, 1)]),
        ([b"caf\xc3\xa9"], "string", ["café"]),
    ],
)
def test_a_column_has_the_type_of_all_its_values(values, kind, found):
    assert typed(values) == (kind, found)


def test_an_array_of_arrow_gives_the_column_of_its_values():
    for written, expected in ((True, [12, None, 12]), (False, ["12", "", "12"])):
        gatherer = Gatherer()
        gatherer.add({"x": pa.array(["12", "", "12"])}, 3, written=written)
        assert gatherer.typed()["x"].to_pylist() == expected


def test_parts_give_the_column_of_the_whole():
    rows = [{"x": 1}, {}, {"x": None, "y": "2024-05"}, {"y": "2024-05-02", "z": 1}, {"x": 0.5, "z": "b"}]

    def gathered(some):
        gatherer = Gatherer()
        for row in some:
            gatherer.add({name: [value] for name, value in row.items()}, 1)
        return gatherer.gathered()

    whole = gathered(rows)
    expected = Layout.of([whole.forms()]).typed(whole)
    for cut in range(len(rows) + 1):
        parts = [gathered(rows[:cut]), gathered(rows[cut:])]
        layout = Layout.of([part.forms() for part in parts])
        assert pa.concat_tables([layout.typed(part) for part in parts]).equals(expected)
    assert expected.to_pydict() == {
        "x": [1.0, None, None, None, 0.5],
        "y": [None, None, DATES[0], DATES[1], None],
        "z": [None, None, None, "1", "b"],
    }


def corpus_with_numbers(n: int = 40) -> Corpus:
    return Corpus.from_counts(np.arange(1, n + 1)[:, None], ["w"], metadata={"number": np.arange(1, n + 1)})


def aligned(corpus: Corpus) -> bool:
    """Whether each document stands beside its own number."""
    return corpus.metadata["number"].to_pylist() == corpus.counts.toarray()[:, 0].tolist()


def test_metadata_follow_the_documents(tmp_path):
    corpus = corpus_with_numbers()
    train, held = corpus.split(0.25, seed=3)
    assert len(held) == 10
    assert all(map(aligned, (corpus, train, held, corpus[5:17], corpus[::3], corpus[[7, 3, 3, -1]])))
    assert aligned(corpus[corpus.document_lengths % 2 == 0][4:])
    assert all(half.metadata is corpus.metadata for half in corpus.halves())
    assert corpus[5:5].metadata.num_rows == 0
    write_corpus(held, tmp_path / "held")
    assert aligned(open_corpus(tmp_path / "held"))
    assert open_corpus(tmp_path / "held").metadata.equals(held.metadata.combine_chunks())


def test_metadata_stay_when_words_change():
    corpus = corpus_with_numbers()
    assert align(corpus, ["a", "w"])[0].metadata is corpus.metadata
    assert Corpus.from_counts(corpus, ["v"]).metadata is corpus.metadata


def test_data_frames_and_tables_are_taken():
    frame = pd.DataFrame({"kind": ["a", "b"], "when": pd.to_datetime(["2024-05-01", "2024-05-02"])})
    corpus = Corpus.from_counts([[1], [2]], metadata=frame)
    assert corpus.metadata.column_names == ["kind", "when"]
    assert Corpus.from_counts([[1], [2]], metadata=corpus.metadata).metadata is corpus.metadata


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"a": [1]}, "metadata has 1 rows for 2 documents"),
        (3, "metadata is int"),
        ([1, 2], "give an Arrow table"),
        ({"a": [1, 2], "b": [1]}, "give an Arrow table"),
        (pa.table([pa.array([1, 2])] * 2, names=["a", "a"]), "several columns 'a'; give each a different name"),
    ],
)
def test_metadata_that_do_not_fit_are_refused(given, message):
    with pytest.raises(InvalidCorpus, match=message):
        Corpus.from_counts([[1], [2]], metadata=given)


@pytest.mark.parametrize(
    ("values", "kept"),
    [
        (["unknown", 2019, None], ["unknown", "2019", None]),
        ([2019, "unknown", float("nan")], ["2019", "unknown", None]),
        (
            ["2020-01-01", datetime.date(2021, 1, 1), pd.NaT],
            [datetime.date(2020, 1, 1), datetime.date(2021, 1, 1), None],
        ),
    ],
)
def test_values_beside_texts_are_kept(values, kept):
    frame = pd.DataFrame({"text": ["bread", "salt", "bread"], "y": pd.Series(values, dtype=object)})
    assert count_texts(frame, text="text", keep=["y"]).metadata["y"].to_pylist() == kept


def test_a_folder_without_metadata_opens(tmp_path):
    write_corpus(Corpus.from_counts([[1], [2]]), tmp_path / "c")
    meta = json.loads((tmp_path / "c" / "corpus.json").read_text())
    assert meta.pop("metadata") is False
    (tmp_path / "c" / "corpus.json").write_text(json.dumps(meta))  # as older versions wrote it
    assert open_corpus(tmp_path / "c").metadata is None


def test_damaged_metadata_are_told(tmp_path):
    write_corpus(corpus_with_numbers(), tmp_path / "c")
    file = tmp_path / "c" / "metadata.parquet"
    pq.write_table(pa.table({"number": [1]}), file)
    with pytest.raises(ReadError, match="it has 1 rows for 40 documents"):
        open_corpus(tmp_path / "c")
    file.write_bytes(b"PAR1")
    with pytest.raises(ReadError, match="not a readable Parquet file"):
        open_corpus(tmp_path / "c")
    file.unlink()
    with pytest.raises(ReadError, match=r"metadata\.parquet"):
        open_corpus(tmp_path / "c")


def test_columns_of_several_row_groups_come_back(tmp_path, monkeypatch):
    from stickbreak.corpus import folder

    monkeypatch.setattr(folder, "_ROWS", 7)
    write_corpus(corpus_with_numbers(), tmp_path / "c")
    assert pq.ParquetFile(tmp_path / "c" / "metadata.parquet").num_row_groups == 6
    assert aligned(open_corpus(tmp_path / "c"))


def test_a_corpus_folder_gives_the_columns_that_are_asked_for(tmp_path):
    write_corpus(Corpus.from_counts([[1], [2]], metadata={"a": [1, 2], "b": ["x", "y"]}), tmp_path / "c")
    assert read(tmp_path / "c", keep=["b"]).metadata.column_names == ["b"]
    assert read(tmp_path / "c", keep="all").metadata.column_names == ["a", "b"]
    with pytest.raises(ReadError, match="has no column 'c'; name another one: 'a', 'b'"):
        read(tmp_path / "c", keep=["b", "c"])
    write_corpus(Corpus.from_counts([[1], [2]]), tmp_path / "bare")
    with pytest.raises(ReadError, match="bare has no columns, but 'a' is asked for; count the texts again with --keep"):
        read(tmp_path / "bare", keep=["a"])
