"""What cannot be read is refused by one sentence that names the place; no file ends the process."""

import gzip
import io
import json
import zipfile

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp

from stickbreak.corpus import Corpus, read, read_texts
from stickbreak.exceptions import InputError, InvalidCorpus, NoDocuments, ReadError

MM = "%%MatrixMarket matrix coordinate integer general\n"


def refusal(path, **settings):
    """Give the sentence that refuses a file."""
    with pytest.raises((ReadError, InvalidCorpus)) as caught:
        read(path, **settings)
    message = str(caught.value)
    assert path.name in message
    assert "\n" not in message
    assert len(message) < 500
    return message


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


BAD = [
    ("d.jsonl", '{"text": "a"}\n{"text": "b"\n', "line 2 is not valid JSON"),
    ("d.jsonl", '{"text": "a"} x\n', "line 1 is not valid JSON"),
    ("d.jsonl", "7\n", "line 1 holds a JSON number"),
    ("d.jsonl", '{"text":\n"bread"}\n', "ends on a later line; write each object on one line"),
    ("d.jsonl", "[" * 100_000, "nested too deeply"),
    ("d.jsonl", '{"text": "a"}\n{"n": ' + "9" * 5000 + "}\n", "line 2 holds a number of too many digits"),
    ("d.json", '["a", "b"] x', "more text follows the end of the JSON array"),
    ("d.json", '["a", "b', "element 2 is not valid JSON"),
    ("d.json", '{"data": [["a"]], "columns": ["text"]}', 'orient="records"'),
    ("d.json", json.dumps({"text": {"0": "a", "1": "b"}}), 'orient="records"'),
    ("d.csv", "id,text\n1,a,b\n", "line 2 has 3 fields but the header names 2"),
    ("d.csv", "id,text\r1,bread\r", "bare carriage return"),
    ("d.pdf", "%PDF-1.4", "a PDF"),
    ("d.csv", b"\x89PNG\r\n\x1a\n", "an image"),
    ("d.csv", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office file"),
    ("d.html", "<!DOCTYPE html><p>x", "an HTML page"),
    ("d.xyz", "hello there", "not clear from its name or content; give --format NAME (in Python: format), one of"),
    ("d.txt", "b\0r\0e\0a\0d\0\n\0".encode("latin-1"), "looks like UTF-16"),
    ("d.txt", b"bread\nbr\xe9ad\n", "line 2 is not UTF-8 (byte 0xe9)"),
    ("d.txt.gz", gzip.compress(b"bread and butter" * 99)[:-20], "truncated packed file"),
    ("d.txt.gz", gzip.compress(b"bread")[:-8] + b"\0" * 8, "corrupt packed file"),
    ("d.parquet", b"PAR1" + b"\0" * 40, "not a readable Parquet file"),
    ("d.mtx", MM, "line 1 must give the rows, columns and entries"),
    ("d.mtx", MM + "2 2 1\n1 5 3\n", "names column 5"),
    ("d.mtx", MM + "2 2 2\n1 1 3\n", "of 1 entries, but its line 2 asks for 2"),
    ("d.mtx", MM + "2 2 1\n1 1 x\n", "line 3 is '1 1 x'"),
    ("d.mtx", MM + "99999999999 2 0\n", "declares 99999999999 documents"),
    ("d.mtx", MM.replace("integer", "complex") + "1 1 1\n1 1 1 0\n", "complex"),
    ("d.mtx", "1 1 1\n", "not a Matrix Market file"),
    ("docword.txt", "2\n3\n2\n1 1 1\n", "holds 1 entries but its header declares 2"),
    ("docword.txt", "2\n3\n1\n1 9 1\n", "names word 9"),
    ("docword.txt", "2\n3\n1\n1 1 one\n", "line 4 is '1 1 one'"),
    ("docword.txt", "2\n3\nx\n", "does not begin with three lines"),
    ("d.ldac", "2 0:1\n", "line 1 declares 2 words but holds 1"),
    ("d.ldac", "1 0:99999999999\n", "below 2^31"),
    ("d.ldac", "1 1999999999:1\n", "declares 1 documents|declares 2000000000 words"),
    ("d.svmlight", "1 3:x\n", "not an SVMlight file"),
    ("d.npz", b"PK\x03\x04 no archive", "does not hold a SciPy sparse matrix"),
]


@pytest.mark.parametrize(("name", "content", "said"), BAD, ids=range(len(BAD)))
def test_bad_files_are_refused_by_a_sentence(tmp_path, name, content, said):
    import re

    assert re.search(said if "|" in said else re.escape(said), refusal(write(tmp_path / name, content)))


@pytest.mark.parametrize("name", ["empty.csv", "header.csv", "blank.jsonl", "array.json", "empty.txt"])
def test_no_documents_are_told(tmp_path, name):
    content = {"header.csv": "id,text\n", "blank.jsonl": "\n\n", "array.json": "[]"}.get(name, "")
    with pytest.raises(NoDocuments, match=r"holds no documents|is empty"):
        read(write(tmp_path / name, content))


@pytest.mark.parametrize("member", ["xl/workbook.xml", "word/document.xml"])
def test_office_files_are_told(tmp_path, member):
    with zipfile.ZipFile(tmp_path / "d.csv", "w") as archive:
        archive.writestr(member, b"x")
    assert "an Excel" in refusal(tmp_path / "d.csv") or "a Word" in refusal(tmp_path / "d.csv")


@pytest.mark.parametrize("given", [["a"], 7, None, b"x", "", "two\nlines of text", {"text": "a"}])
def test_what_is_no_path_is_refused(given):
    with pytest.raises(InputError, match="read takes a path"):
        read(given)


def test_settings_that_cannot_be_are_refused(tmp_path):
    path = write(tmp_path / "d.csv", "id,text\n1,bread\n")
    for name, value in {
        "format": "xml", "encoding": "no-such", "delimiter": "ab", "chunk_size": 0, "text_field": b"x", "limits": 3,
        "keep": "date", "vocabulary": 7, "text": "english",
    }.items():  # fmt: skip
        with pytest.raises(InputError, match=name):
            read(path, **{name: value})
    for name in ("text_field", "name_field"):
        with pytest.raises(ReadError, match=r"has no field 'body'; name another with --.*: 'id', 'text'"):
            read(path, **{name: "body"})


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "cp500", "shift_jis", "latin-1", "utf-8-sig"])
@pytest.mark.parametrize("name", ["d.csv", "d.jsonl", "d.json", "d.txt"])
def test_other_encodings_are_read_where_they_are_named(tmp_path, encoding, name):
    text = "bread \u00fcber" if encoding in ("latin-1", "cp500") else "bread \u65e5\u672c"
    body = {"d.csv": f"id,text\n1,{text}\n", "d.jsonl": f'{{"text": "{text}"}}\n', "d.json": f'["{text}"]'}.get(
        name, f"{text}\n"
    )
    if encoding == "latin-1" or text.isascii() or encoding == "cp500":
        body = body.replace("\u65e5", "")
    path = write(tmp_path / name, body.encode(encoding))
    assert read_texts(path, [0], encoding=encoding)[0].strip() == text
    if encoding in ("utf-16", "utf-32"):  # they have a mark
        assert read_texts(path, [0])[0].strip() == text


def npz(**members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in members.items():
            content = io.BytesIO()
            np.lib.format.write_array(content, np.asarray(array), allow_pickle=True)
            archive.writestr(f"{name}.npy", content.getvalue())
    return file.getvalue()


CSR = {"indices": [0, 1], "indptr": [0, 1, 2], "format": b"csr", "shape": [2, 2], "data": [1, 2]}
FAR = 2**40
BROKEN = [
    {"indices": [0, 70_000_000]},
    {"indices": [0, -70_000_000]},
    {"indptr": [0, 90_000_000, 2]},
    {"indptr": [5, 1, 2]},
    {"indptr": [0, 2, 0]},
    {"indptr": [0, 1, 2, 2]},
    {"shape": [2]},
    {"shape": [-2, 2]},
    {"shape": [FAR, 2]},
    {"format": b"xyz"},
    {"data": np.array([1, "x"], object)},
    {"data": [1j, 2]},
    {"data": [1]},
    {"format": b"csc", "indices": [0, 70_000_000]},
    {"format": b"bsr", "data": np.ones((2, 1, 1)), "indices": [0, 70_000_000]},
    {"format": b"coo", "row": [0, 70_000_000], "col": [0, 1]},
    {"format": b"dia", "data": np.ones((2, 2)), "offsets": [FAR, FAR]},
]


@pytest.mark.parametrize("changes", BROKEN, ids=range(len(BROKEN)))
def test_archives_that_contradict_themselves_are_refused(tmp_path, changes):
    write(tmp_path / "d.npz", npz(**CSR))
    assert read(tmp_path / "d.npz").n_tokens == 3
    refusal(write(tmp_path / "d.npz", npz(**(CSR | changes))))


def broken_csr(form):
    X = sp.csr_matrix(np.eye(4, dtype=int)).asformat(form)
    if form in ("csr", "csc", "bsr"):
        X.indices = np.array([0, 1, 2, 70_000_000], X.indices.dtype)
    elif form == "coo":
        X.coords = (np.array([0, 1, 2, 90_000_000]), X.coords[1])
    elif form == "lil":
        X.rows[1] = [70_000_000]
    elif form == "dok":
        X._dict[(70_000_000, 0)] = 1
    return X


@pytest.mark.parametrize("form", ["csr", "csc", "bsr", "coo", "lil", "dok"])
def test_sparse_matrices_that_are_broken_inside_are_refused(form):
    with pytest.raises(InvalidCorpus, match="broken inside"):
        Corpus.from_counts(broken_csr(form))


def test_a_table_with_a_name_twice_is_counts_or_told():
    twice = pa.table([pa.array([1, 2]), pa.array([0, 3])], names=["x", "x"])
    assert Corpus.from_counts(twice).counts.toarray().tolist() == [[1, 0], [2, 3]]
    with pytest.raises(InvalidCorpus, match="column 'x' of X holds texts"):
        Corpus.from_counts(pa.table([pa.array([1]), pa.array(["a"])], names=["x", "x"]))


def test_a_matrix_of_any_form_stays_as_it_is():
    X = sp.csr_matrix(np.array([[1, 0, 2], [0, 0, 3]]))
    X.indices = np.array([2, 0, 2, 9], np.int32)  # unsorted, and more than indptr names
    X.data = np.array([2, 1, 3, 9])
    before = X.indices.copy(), X.data.copy(), X.indptr.copy()
    assert Corpus.from_counts(X).counts.toarray().tolist() == [[1, 0, 2], [0, 0, 3]]
    assert all((a == b).all() for a, b in zip(before, (X.indices, X.data, X.indptr), strict=True))


def test_the_labels_of_svmlight_may_be_asked_for(tmp_path):
    path = write(tmp_path / "d.svmlight", "1 1:2\n0 2:1\n")
    assert read(path, keep=["label"]).metadata["label"].to_pylist() == [1.0, 0.0]
    with pytest.raises(ReadError, match="has no column 'kind'; name another one: 'label'"):
        read(path, keep=["kind"])


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"format": "foo"}, "format 'foo' is unknown; give --format NAME (in Python: format), one of jsonl, csv, "),
        ({"bad_rows": "ignore"}, "--bad-rows (bad_rows) is 'ignore'; give 'fail' or 'skip'"),
        ({"encoding_errors": "x"}, "--encoding-errors (encoding_errors) is 'x'; give 'strict' or 'replace'"),
    ],
)
def test_a_wrong_setting_names_its_option(tmp_path, settings, words):
    with pytest.raises(InputError) as caught:
        read(write(tmp_path / "d.csv", "text\nbread\n"), **settings)
    assert words in str(caught.value)


def test_the_encoding_of_a_vocabulary_can_be_named_or_changed(tmp_path):
    texts, words = write(tmp_path / "d.txt", "bread br\xe9ad".encode("latin-1")), tmp_path / "words.txt"
    words.write_bytes(b"bread\nbr\xe9ad\n")
    with pytest.raises(ReadError, match=r"words.txt, line 2 is not UTF-8 \(byte 0xe9\)") as caught:
        read(texts, vocabulary=words)
    assert str(caught.value).endswith("if all that is read has it, or save this file as UTF-8")
    assert read(texts, vocabulary=words, encoding="latin-1").n_tokens == 2


def test_svmlight_is_read_with_its_labels(tmp_path):
    lines = "".join(f"{n % 2} {1 + n % 5}:2 {7 + n % 3}:1 # doc {n}\n" for n in range(40))
    for name in ("d.svmlight", "d.libsvm", "d.txt"):
        corpus = read(write(tmp_path / name, lines))
        assert (corpus.n_documents, corpus.n_tokens) == (40, 120)
        assert corpus.metadata["label"].to_pylist()[:3] == [0.0, 1.0, 0.0]
