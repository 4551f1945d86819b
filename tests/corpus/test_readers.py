"""Every format read back; test_bad_input.py has what is refused."""

import gzip
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from stickbreak.corpus import TextOptions, read, read_texts
from stickbreak.corpus.reading.counts import find_vocabulary
from stickbreak.corpus.reading.files import PACKED
from stickbreak.exceptions import InputError, InvalidCorpus, ReadError

TEXTS = ["bread and butter", "", 'butter\nwith jam, "fresh" jam']
NAMES = ["monday", "tuesday", "wednesday"]
ALL = TextOptions(min_df=1, max_df=1.0, stop_words=None)
COUNTS = [[1, 1, 1, 0, 0, 0], [0, 0, 0, 0, 0, 0], [0, 0, 1, 1, 2, 1]]
WORDS = ("and", "bread", "butter", "fresh", "jam", "with")
TABLE = [[2, 0, 1], [0, 0, 0], [0, 3, 4]]

tables = st.tuples(st.integers(1, 6), st.integers(1, 5)).flatmap(
    lambda shape: arrays(np.int32, shape, elements=st.integers(0, 4))
)


def write(path, content):
    """Write text or bytes; packed if the name ends in .gz."""
    content = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(content) if path.name.endswith(".gz") else content)
    return path


def jsonl(field="text", name="id"):
    return "".join(json.dumps({name: n, field: t}) + "\n" for n, t in zip(NAMES, TEXTS, strict=True))


def table(delimiter, field="text", name="id"):
    quoted = ['"' + text.replace('"', '""') + '"' for text in TEXTS]
    lines = [f"{name}{delimiter}{field}"] + [f"{n}{delimiter}{t}" for n, t in zip(NAMES, quoted, strict=True)]
    return "\r\n".join(lines) + "\r\n"


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


# ---------------------------------------------------------------- texts


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("d.jsonl", jsonl()),
        ("d.ndjson", jsonl()),
        ("d.jsonl.gz", jsonl()),
        ("packed_without_saying.jsonl", gzip.compress(jsonl().encode())),
        ("no_suffix", jsonl()),
        ("d.jsonl", "\ufeff" + jsonl() + "\n"),
        ("d.jsonl", jsonl("body", "title")),
        ("d.csv", table(",")),
        ("d.csv.gz", table(",")),
        ("d.tsv", table("\t")),
        ("d.csv", table(",", "story", "name")),
        ("d.csv", "\ufeff" + table(",")),
    ],
)
def test_text_files_give_counts_and_names(tmp_path, name, content):
    corpus = read(write(tmp_path / name, content), text=ALL)
    assert corpus.words == WORDS
    assert corpus.names == tuple(NAMES)
    np.testing.assert_array_equal(corpus.counts.toarray(), COUNTS)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())])
def test_parquet_gives_counts_and_names(tmp_path, kind):
    pq.write_table(pa.table({"id": NAMES, "n": [1, 2, 3], "text": pa.array(TEXTS).cast(kind)}), tmp_path / "d.parquet")
    for chunk_size in (1, 2, 100):
        corpus = read(tmp_path / "d.parquet", text=ALL, chunk_size=chunk_size)
        assert corpus.names == tuple(NAMES)
        np.testing.assert_array_equal(corpus.counts.toarray(), COUNTS)


def test_folder_of_text_files_is_read_in_order(tmp_path):
    for name, text in zip(["a.txt", "b/c.txt", "b/d"], TEXTS, strict=True):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\0\xff")
    (tmp_path / ".hidden").write_text("hidden")
    corpus = read(tmp_path, text=ALL)
    assert corpus.names == ("a.txt", "b/c.txt", "b/d")
    np.testing.assert_array_equal(corpus.counts.toarray(), COUNTS)


def test_lines_are_documents_of_a_txt_file(tmp_path):
    corpus = read(write(tmp_path / "d.txt", "bread\n\nbutter bread"), text=ALL)
    assert corpus.counts.toarray().tolist() == [[1, 0], [0, 0], [1, 1]]
    assert corpus.names is None


def test_json_strings_and_nulls_are_documents(tmp_path):
    corpus = read(write(tmp_path / "d.jsonl", '"bread"\n{"text": null}\n{"text": "butter", "id": 7}\n'), text=ALL)
    assert corpus.document_lengths.tolist() == [1, 0, 1]


def test_fields_can_be_named(tmp_path):
    path = write(tmp_path / "d.jsonl", '{"text": "no", "body": "bread", "key": 5, "id": "x"}\n')
    corpus = read(path, text=ALL, text_field="body", name_field="key")
    assert (corpus.words, corpus.names) == (("bread",), ("5",))


def test_numbers_are_not_taken_for_the_text_column(tmp_path):
    corpus = read(write(tmp_path / "d.csv", "year,story\n1999,bread\n2000,butter\n"), text=ALL)
    assert corpus.words == ("bread", "butter")


def test_long_csv_fields_are_read(tmp_path):
    corpus = read(write(tmp_path / "d.csv", "text,n\n" + "bread " * 50_000 + ",1\n"), text=ALL)
    assert corpus.n_tokens == 50_000


def test_encoding_can_be_named(tmp_path):
    path = write(tmp_path / "d.jsonl", '"café"\n'.encode("latin-1"))
    assert read(path, text=ALL, encoding="latin-1").words == ("café",)
    path = write(tmp_path / "d.jsonl", '\ufeff"café"\n"jam"\n')
    assert read(path, text=ALL, encoding="utf-8-sig").words == ("café", "jam")


def test_vocabulary_counts_exactly_its_words(tmp_path):
    path = write(tmp_path / "d.jsonl", jsonl())
    vocabulary = write(tmp_path / "words.txt", "jam\nbread\nhoney\n")
    for given_as in (vocabulary, str(vocabulary), ("jam", "bread", "honey")):
        corpus = read(path, vocabulary=given_as)
        assert corpus.words == ("jam", "bread", "honey")
        assert corpus.counts.toarray().tolist() == [[0, 1, 0], [0, 0, 0], [2, 0, 0]]


def test_read_texts_gives_documents_of_the_rows(tmp_path):
    path = write(tmp_path / "d.csv", table(","))
    assert read_texts(path, [2, 0, 2]) == [TEXTS[2], TEXTS[0], TEXTS[2]]
    with pytest.raises(InputError, match="no document 3"):
        read_texts(path, [3])
    with pytest.raises(InputError, match="counts and no texts"):
        read_texts(npz(tmp_path / "c.npz", TABLE), [0])


# ---------------------------------------------------------------- counts


@given(tables)
def test_counts_formats_round_trip(tmp_path_factory, matrix):
    folder = tmp_path_factory.mktemp("counts")
    words = tuple(f"word {j}" for j in range(matrix.shape[1]))
    write(folder / "vocab.txt", "\n".join(words) + "\n")
    paths = [
        write(folder / "docword.a.txt.gz", uci(matrix)),
        write(folder / "docword.txt", uci(matrix)),
        write(folder / "b.ldac", ldac(matrix)),
        write(folder / "c.dat.gz", ldac(matrix)),
        npz(folder / "d.npz", matrix),
        mtx(folder / "e.mtx", matrix),
        write(folder / "f.mtx.gz", (folder / "e.mtx").read_bytes()),
    ]
    for path in paths:
        corpus = read(path)
        np.testing.assert_array_equal(corpus.counts.toarray(), matrix)
        assert corpus.counts.dtype == np.int32
        assert corpus.words == words


@pytest.mark.parametrize(
    ("column", "texts"),
    [("text", ["good bread", "good salt", "bread"]), ("post", ["the bread was good today", "salt", "bread and salt"])],
)
def test_texts_beside_many_numbers_are_no_counts(tmp_path, column, texts):
    numbers = "".join(f",{n}" for n in range(11))
    lines = [column + numbers.replace(",", ",n"), *(text + numbers for text in texts)]
    corpus = read(write(tmp_path / "posts.csv", "\n".join(lines) + "\n"), text=ALL)
    assert {"bread", "good", "salt"} <= set(corpus.words)
    lines[0] = lines[0].replace(column, "title")
    assert read(write(tmp_path / "counts.csv", "\n".join(lines) + "\n")).names == tuple(texts)


@pytest.mark.parametrize(
    ("counts", "vocabulary"),
    [
        ("docword.kos.txt", "vocab.kos.txt"),
        ("docword.kos.txt", "kos.vocab"),
        ("docword.kos.txt.gz", "vocab.txt.gz"),
        ("kos.ldac", "kos.tokens"),
        ("kos.dat", "vocab.kos.txt"),
        ("kos.dat", "vocabulary.txt"),
    ],
)
def test_vocabulary_is_found_beside_the_counts(tmp_path, counts, vocabulary):
    write(tmp_path / vocabulary, "a\r\nb\nc\n\n")
    assert read(write(tmp_path / counts, (uci if "docword" in counts else ldac)(TABLE))).words == (
        "a",
        "b",
        "c",
    )


@pytest.mark.parametrize("ending", PACKED)
def test_vocabulary_is_found_beside_packed_counts(tmp_path, ending):
    beside = write(tmp_path / "vocab.kos.txt", "a\n")
    assert find_vocabulary(tmp_path / f"docword.kos.txt{ending}") == beside


@pytest.mark.parametrize("first", [0, 1])
def test_last_words_of_a_vocabulary_need_not_occur(tmp_path, first):
    path = write(tmp_path / "a.svmlight", f"1 {first}:1 {first + 1}:2\n0 {first + 1}:3\n")
    corpus = read(path, vocabulary=["bread", "butter", "salt"])
    assert corpus.counts.toarray().tolist() == [[1, 2, 0], [0, 3, 0]]
    with pytest.raises(InvalidCorpus, match="the vocabulary has 1 words but the counts have 2 columns"):
        read(path, vocabulary=["bread"])


def test_words_are_numbered_without_a_vocabulary(tmp_path):
    corpus = read(write(tmp_path / "a.ldac", ldac(TABLE)))
    assert corpus.vocabulary is None
    assert corpus.n_words == 3


@pytest.mark.parametrize(
    ("name", "content"), [("counts", uci(TABLE)), ("counts.bin", ldac(TABLE)), ("c.txt", uci(TABLE))]
)
def test_format_is_told_by_the_content(tmp_path, name, content):
    np.testing.assert_array_equal(read(write(tmp_path / name, content)).counts.toarray(), TABLE)


def test_format_overrides_name_and_content(tmp_path):
    path = npz(tmp_path / "a.npz", TABLE).rename(tmp_path / "a.jsonl")
    np.testing.assert_array_equal(read(path, format="npz").counts.toarray(), TABLE)


def test_uci_is_read_with_any_blanks(tmp_path):
    path = write(tmp_path / "docword.txt", "2\r\n 3 \r\n2\r\n\r\n1  2\t5 \r\n2 1 1\r\n")
    assert read(path).counts.toarray().tolist() == [[0, 5, 0], [1, 0, 0]]


def test_matrix_market_takes_weights_and_dense_files(tmp_path):
    scipy.io.mmwrite(tmp_path / "a.mtx", sp.coo_matrix([[0.5, 0.0, 2.0]]))
    assert not read(tmp_path / "a.mtx").is_integer
    fortran = write(tmp_path / "f.mtx", "%%MatrixMarket matrix coordinate real general\n1 2 1\n1 2 1.5D+01\n")
    assert read(fortran).counts.toarray().tolist() == [[0, 15]]
    scipy.io.mmwrite(tmp_path / "b.mtx", np.array(TABLE), symmetry="general")
    np.testing.assert_array_equal(read(tmp_path / "b.mtx").counts.toarray(), TABLE)


HEADS = {
    "id": "id,bread,butter,salt,oil,jam,flour,yeast,deck,sail,mast",
    "": ",bread,butter,salt,oil,jam,flour,yeast,deck,sail,mast",
}


@pytest.mark.parametrize(("head", "delimiter"), [("id", ","), ("", ";"), ("id", "\t")])
def test_a_table_of_words_is_read_as_counts(tmp_path, caplog, head, delimiter):
    rows = [("d1", 1, 0, 2, "", 0, 0, 0, 0, 0, 3), ("d2", 0, 1, 0, 0, 0, 0, 0, 5, 0, 0)]
    lines = [HEADS[head], *(",".join(map(str, row)) for row in rows)]
    path = write(tmp_path / "counts.csv", "\n".join(lines).replace(",", delimiter) + "\n")
    corpus = read(path)
    assert "it is read as counts" in caplog.text
    assert corpus.names == ("d1", "d2")
    assert corpus.words[:2] == ("bread", "butter")
    assert corpus.counts.toarray().tolist() == [[0 if n == "" else n for n in row[1:]] for row in rows]
    few = write(tmp_path / "few.csv", "id,bread,butter,jam\na,1,0,2\nb,0,1,1\n")
    with pytest.raises(ReadError, match="give --format counts"):
        read(few)
    assert read(few, format="counts").counts.toarray().tolist() == [[1, 0, 2], [0, 1, 1]]
    with pytest.raises(ReadError, match="column 'jam' holds 'x', not numbers"):
        read(write(few, "id,bread,butter,jam\na,1,0,x\n"), format="counts")


def test_words_of_copies_are_not_counted(tmp_path):
    texts = ["bread salt", *["butter oil"] * 9, *(f"bread jam {word}" for word in ("flour", "yeast", "dough"))]
    path = write(tmp_path / "d.txt", "\n".join([*texts, *(f"salt word{chr(97 + n)}" for n in range(20))]) + "\n")
    options = TextOptions(min_df=2, max_df=1.0, stop_words=None)
    assert "butter" in read(path, text=options, format="lines").words  # of 33 documents two are asked for at most: one
    kept = read(path, text=TextOptions(min_df=0.1, max_df=1.0, stop_words=None), copies="drop")
    assert kept.words == ("bread", "jam", "salt")
    assert set(map(tuple, kept.counts.toarray().tolist())) == {(1, 0, 1), (0, 0, 0), (1, 1, 0), (0, 0, 1)}
    assert kept.left_out[-1].startswith("29 of 33")
