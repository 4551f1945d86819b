"""Every kind of bad input, refused in one sentence that names the place."""

import gzip
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.io
import scipy.sparse as sp

from stickbreak.corpus import read
from stickbreak.exceptions import InputError, InvalidCorpus, ReadError

TABLE = [[2, 0, 1], [0, 0, 0], [0, 3, 4]]
STORIES = ["bread and butter", "butter\nwith jam"]


def write(path, content):
    """Write text or bytes; packed if the name ends in .gz."""
    content = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(content) if path.name.endswith(".gz") else content)
    return path


def jsonl(field="text"):
    return "".join(json.dumps({"id": str(n), field: text}) + "\n" for n, text in enumerate(STORIES))


def table(field="text"):
    return f"id,{field}\n" + "".join(f'{n},"{text}"\n' for n, text in enumerate(STORIES))


def uci(matrix):
    X = sp.coo_array(np.array(matrix))
    lines = [f"{i + 1} {j + 1} {v}" for i, j, v in zip(X.row, X.col, X.data, strict=True)]
    return "\n".join([str(X.shape[0]), str(X.shape[1]), str(X.nnz), *lines]) + "\n"


def ldac(matrix):
    rows = [[f"{j}:{v}" for j, v in enumerate(row) if v] for row in matrix]
    return "".join(" ".join([str(len(row)), *row]) + "\n" for row in rows)


def npz(path, matrix):
    sp.save_npz(path, sp.csr_matrix(np.array(matrix)))
    return path


def mtx(path, matrix):
    scipy.io.mmwrite(path, sp.coo_matrix(np.array(matrix)), symmetry="general")
    return path


def refusal(error, *args, **settings):
    """Give the message of the error that reading raises: one sentence."""
    with pytest.raises(error) as caught:
        read(*args, **settings)
    message = str(caught.value)
    assert "\n" not in message
    assert 20 < len(message) < 400
    return message


@pytest.mark.parametrize(
    ("name", "content", "parts"),
    [
        ("d.jsonl", '"a"\n{"text": \n"b"\n', ["d.jsonl, line 2 is not valid JSON", "column"]),
        ("d.jsonl", '{"text": "a"}\n[1]\n', ["line 2 holds a JSON array"]),
        ("d.jsonl", '{"text": "a"}\n{"text": 5}\n', ["line 2", "'text' holds a JSON number, not a string"]),
        ("d.jsonl", '{"text": {"a": 1}}\n', ["line 1", "holds a JSON object"]),
        ("d.jsonl", '{"text": "a"}\n{"body": "b", "x": 1}\n', ["line 2 has no field 'text'", "'body', 'x'"]),
        ("d.jsonl", '{"story": "a", "body": "b"}\n', ["line 1", "not clear which field", "'story', 'body'"]),
        ("d.jsonl", '{"n": 1}\n', ["not clear which field", "'n'"]),
        ("d.jsonl", "[" * 100_000, ["element 1 (line 1) is nested too deeply"]),
        (
            "d.jsonl",
            b'"\xc3\xa9"\n"caf\xe9"\n',
            ["line 2 is not UTF-8", "byte 0xe9 at position 9", "--encoding", "latin-1"],
        ),
        ("d.jsonl", "\n\n", ["holds no documents"]),
        ("d.csv", "id,text\n1,a\n2,b,c\n", ["line 3 has 3 fields", "header names 2"]),
        ("d.csv", 'id,text\n1,"a\n2,b\n', ["is not a valid table"]),
        ("d.csv", "a,b\nfoo,bar\n", ["not clear which field", "'a', 'b'"]),
        ("d.csv", "id,text\n", ["holds no documents"]),
        ("d.csv", b"text,n\nabc,1\n\xff,1\n", ["line 3 is not UTF-8"]),
        ("d.parquet", "no parquet", ["not a readable Parquet file"]),
        ("d.xyz", "what is this", ["is not clear from its name or content"]),
        ("d.jsonl", "", ["is empty"]),
        ("d.npz", "PK no zip", ["does not hold a SciPy sparse matrix"]),
        (
            "d.mtx",
            "%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 x 3\n",
            ["Matrix Market", "ine 3"],
        ),
        ("d.mtx", "%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 5 3\n", ["Matrix Market"]),
        ("d.mtx", "%%MatrixMarket matrix coordinate integer general\n2 2 3\n1 1 3\n", ["Matrix Market"]),
        ("d.mtx", "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 3 2\n", ["complex"]),
        ("docword.txt", "2\n3\n", ["three lines of one number"]),
        ("docword.txt", "2\n3\nmany\n", ["three lines of one number"]),
        ("docword.txt", "0\n3\n0\n", ["0 documents"]),
        ("docword.txt", "2\n3\n2\n1 1 1\n", ["holds 1 entries but its header declares 2"]),
        ("docword.txt", "2\n3\n1\n1 1 1\n2 2 2\n", ["holds 2 entries but its header declares 1"]),
        ("docword.txt", "2\n3\n2\n1 1 1\n3 1 1\n", ["line 5 names document 3 but the header declares 2"]),
        ("docword.txt", "2\n3\n2\n1 1 1\n2 4 1\n", ["line 5 names word 4 but the header declares 3"]),
        ("docword.txt", "2\n3\n1\n0 1 1\n", ["line 4 names document 0"]),
        ("docword.txt", "2\n3\n1\n1 0 1\n", ["line 4 names word 0"]),
        ("docword.txt", "2\n3\n1\n1 1 -4\n", ["line 4 holds the count -4"]),
        ("docword.txt", "2\n3\n1\n1 1 9999999999\n", ["line 4 holds the count 9999999999"]),
        ("docword.txt", "2\n3\n2\n1 1 1\n1 2\n", ["line 5 is '1 2'"]),
        ("docword.txt", "2\n3\n2\n1 1\n1 1 1 1\n", ["line 4 is '1 1'"]),
        ("docword.txt", "2\n3\n1\n1 1 0.5\n", ["line 4 is '1 1 0.5'", "whole numbers"]),
        ("d.ldac", "2 0:1 1:2\n2 0:1 1:-2\n", ["line 2 holds '1:-2'"]),
        ("d.ldac", "2 0:1 1:2\n2 0:1\n", ["line 2 declares 2 words but holds 1"]),
        ("d.ldac", "1 0:1\n\n1 0:1\n", ["line 2 is empty; write 0"]),
        ("d.ldac", "0\n0\n", ["no words at all"]),
        ("d.ldac", "1 0:99999999999\n", ["line 1 holds the number 99999999999"]),
        ("d.jsonl", '"a"\n{"text": "b", "n": ' + "9" * 5000 + "}\n", ["line 2 holds a number of too many digits"]),
        ("docword.txt", "2\n" + "9" * 5000 + "\n1\n1 1 1\n", ["line 2 declares a number of 5000 digits"]),
        ("docword.txt", "2\n3\n" + "9" * 4000 + "\n1 1 1\n", ["line 3 declares a number of 4000 digits"]),
        ("docword.txt", "2\n3\n2\n1 1 1\n2 " + "9" * 5000 + " 1\n", ["line 5 is '2 999", "whole numbers"]),
        ("docword.txt", "2\n3\n2\n1 1 1\n2 1 " + "9" * 4000 + "\n", ["line 5 is '2 1 999", "whole numbers"]),
        ("d.ldac", "1 0:1\n" + "9" * 5000 + " 0:1\n", ["line 2 holds a number of 5000 digits"]),
        ("d.ldac", "1 0:1\n1 0:" + "9" * 4000 + "\n", ["line 2 holds a number of 4000 digits"]),
    ],
)
def test_bad_files_are_refused_by_place(tmp_path, name, content, parts):
    message = refusal(ReadError, write(tmp_path / name, content))
    assert str(tmp_path / name) in message
    for part in parts:
        assert part in message


@pytest.mark.parametrize("name", ["d.jsonl.gz", "d.csv.gz", "docword.txt.gz", "d.ldac.gz", "d.mtx.gz", "d.txt.gz"])
def test_truncated_gzip_is_refused(tmp_path, name):
    rows = np.random.default_rng(0).poisson(1, size=(200, 40)).tolist()
    content = {
        "d.jsonl.gz": jsonl() * 500,
        "d.csv.gz": table(),
        "docword.txt.gz": uci(rows),
        "d.ldac.gz": ldac(rows),
        "d.txt.gz": jsonl() * 100,
    }.get(name) or mtx(tmp_path / "x.mtx", rows).read_text()
    packed = gzip.compress(content.encode())
    (tmp_path / name).write_bytes(packed[: len(packed) // 2 if len(packed) > 500 else -12])
    assert "truncated .gz file" in refusal(ReadError, tmp_path / name)


def test_corrupt_gzip_is_refused(tmp_path):
    packed = bytearray(gzip.compress((jsonl() * 500).encode()))
    packed[-8] ^= 0xFF  # in the checksum
    (tmp_path / "d.jsonl.gz").write_bytes(packed)
    assert "corrupt .gz file" in refusal(ReadError, tmp_path / "d.jsonl.gz")


def test_missing_column_is_refused_by_naming_the_others(tmp_path):
    pq.write_table(pa.table({"id": ["a", "b"], "n": [1, 2], "story": STORIES}), tmp_path / "d.parquet")
    paths = [write(tmp_path / "d.jsonl", jsonl("story")), write(tmp_path / "d.csv", table("story"))]
    for path in [*paths, tmp_path / "d.parquet"]:
        message = refusal(ReadError, path, text_field="body")
        assert "no field 'body'" in message
        assert "'id'" in message
        assert "'story'" in message
        assert "no field 'key'" in refusal(ReadError, path, name_field="key")


def test_parquet_column_of_numbers_is_refused(tmp_path):
    pq.write_table(pa.table({"text": [1, 2]}), tmp_path / "d.parquet")
    assert "'text' holds int64, not strings" in refusal(ReadError, tmp_path / "d.parquet")


def test_words_that_pruning_removes_are_named_with_the_file(tmp_path):
    path = write(tmp_path / "d.jsonl", '"bread"\n' * 30)
    message = refusal(InvalidCorpus, path)
    assert str(path) in message
    assert "max_df=0.5 removes 1" in message


@pytest.mark.parametrize("name", ["docword.a.txt", "a.npz", "a.mtx"])
def test_vocabulary_that_does_not_fit_is_refused(tmp_path, name):
    maker = {"a.npz": npz, "a.mtx": mtx}.get(name, lambda path, matrix: write(path, uci(matrix)))
    path = maker(tmp_path / name, TABLE)
    write(tmp_path / "vocab.txt", "a\nb\n")
    message = refusal(InvalidCorpus, path)
    assert "has 2 words but the counts have 3 columns" in message
    assert "vocab.txt" in message


def test_ldac_word_beyond_the_vocabulary_is_refused(tmp_path):
    message = refusal(ReadError, write(tmp_path / "a.ldac", ldac(TABLE)), vocabulary=["a", "b"])
    assert "line 1 names word 2 but the given vocabulary has 2 words" in message


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        ("a\nb\na\n", InvalidCorpus, "holds 'a' twice, on the lines 1 and 3"),
        ("a\n\nc\n", ReadError, "line 2 is empty"),
        ("", ReadError, "is empty"),
        (b"a\nb\xe9\nc\n", ReadError, "line 2 is not UTF-8"),
    ],
)
def test_bad_vocabulary_files_are_refused(tmp_path, content, error, message):
    write(tmp_path / "vocab.txt", content)
    found = refusal(error, npz(tmp_path / "a.npz", TABLE))
    assert str(tmp_path / "vocab.txt") in found
    assert message in found


@pytest.mark.parametrize("value", [-1, np.nan, np.inf])
def test_counts_that_are_no_counts_are_refused_with_the_file(tmp_path, value):
    message = refusal(InvalidCorpus, npz(tmp_path / "a.npz", [[1.0, 0.0], [0.0, value]]))
    assert "a.npz: the count in row 1, column 1 is" in message


def test_pickled_arrays_are_never_loaded(tmp_path):
    np.savez(tmp_path / "a.npz", format=np.array([{}], dtype=object))
    assert "SciPy sparse matrix" in refusal(ReadError, tmp_path / "a.npz")


def test_missing_inputs_are_refused(tmp_path):
    assert "does not exist" in refusal(ReadError, tmp_path / "no.jsonl")
    assert "holds no text files" in refusal(ReadError, tmp_path)
    assert "is a folder, not a file" in refusal(ReadError, tmp_path, format="csv")
    path = npz(tmp_path / "a.npz", TABLE)
    assert "is a file, not a folder" in refusal(ReadError, path, format="folder")
    assert "words.txt does not exist" in refusal(ReadError, path, vocabulary=tmp_path / "words.txt")


def test_text_file_in_a_folder_that_is_not_utf8_is_named(tmp_path):
    write(tmp_path / "a.txt", "fine")
    write(tmp_path / "b.txt", b"ab\xff")
    message = refusal(ReadError, tmp_path)
    assert "b.txt is not UTF-8: byte 0xff at position 2" in message


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"format": "xml"}, "format 'xml' is unknown; use one of jsonl"),
        ({"encoding": "klingon"}, "encoding 'klingon' is unknown"),
        ({"encoding": "utf-16"}, "has no byte order mark; name its encoding with --encoding"),
        ({"chunk_size": 0}, "chunk_size is 0"),
    ],
)
def test_senseless_arguments_are_refused(tmp_path, settings, message):
    assert message in refusal(InputError, write(tmp_path / "d.jsonl", jsonl()), **settings)


def test_unreadable_file_is_refused(tmp_path, monkeypatch):
    def forbidden(*_):
        raise PermissionError(13, "Permission denied")

    path = write(tmp_path / "d.jsonl", jsonl())
    monkeypatch.setattr("stickbreak.storage.plain_files._descriptor", forbidden)
    assert "permission denied" in refusal(ReadError, path)
