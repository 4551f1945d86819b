"""Texts in other encodings, files that are no texts, damaged Parquet, things that are not a path."""

import io
import tarfile
import zipfile
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from stickbreak.corpus import Corpus, TextOptions, count_texts, read, read_texts
from stickbreak.exceptions import InputError, InvalidCorpus, ReadError

ALL = TextOptions(min_df=1, max_df=1.0, stop_words=None)
TEXTS = {
    "d.csv": "id,text\n1,naïve bread\n2,日本語 salt\n",
    "d.jsonl": '{"id": 1, "text": "naïve bread"}\n{"id": "2", "text": "日本語 salt"}\n',
    "d.json": '[{"id": 1, "text": "naïve bread"},\n{"id": "2", "text": "日本語 salt"}]',
    "d.txt": "naïve bread\n日本語 salt\n",
}
WORDS = ("bread", "naïve", "salt", "日本語")

# ---------------------------------------------------------------- encodings


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig", "utf-16-be with mark"])
def test_byte_order_marks_tell_the_encoding(tmp_path, name, encoding):
    content = TEXTS[name]
    marked = ("\ufeff" + content).encode("utf-16-be") if "be" in encoding else content.encode(encoding)
    (tmp_path / name).write_bytes(marked)
    assert read(tmp_path / name, text=ALL).words == WORDS
    assert len(read_texts(tmp_path / name, [1, 0])) == 2
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a").write_bytes(marked)
    (tmp_path / "folder" / "b.txt").write_bytes(marked)
    assert set(WORDS) <= set(read(tmp_path / "folder", text=ALL).words)


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-16", "gb18030", "cp500"])
def test_any_encoding_can_be_asked_for(tmp_path, name, encoding):
    content = TEXTS[name] if encoding != "cp500" else TEXTS[name].replace("日本語", "kkk")
    (tmp_path / name).write_bytes(content.encode(encoding))
    assert read(tmp_path / name, text=ALL, encoding=encoding).n_documents == 2
    assert "bread" in read_texts(tmp_path / name, [0], encoding=encoding)[0]


def test_vocabularies_have_byte_order_marks_too(tmp_path):
    (tmp_path / "words").write_bytes("salt\nbread\n".encode("utf-16"))
    (tmp_path / "d.txt").write_text("bread\n")
    assert read(tmp_path / "d.txt", vocabulary=tmp_path / "words").words == ("salt", "bread")


@pytest.mark.parametrize(
    ("encoding", "content", "message"),
    [
        ("utf-8", "bread and\nsalt".encode("utf-16-le"), "looks like UTF-16 without a byte order mark; .*'utf-16-le'"),
        ("utf-8", "bread and\nsalt".encode("utf-16-be"), "looks like UTF-16 without a byte order mark; .*'utf-16-be'"),
        ("utf-8", "日本語日本語\n".encode("shift_jis"), "line 1 is not UTF-8: byte .* 'shift_jis' or 'latin-1'"),
        ("utf-8", b"a\n" * 70_000 + b"caf\xe9\n", "line 70001 is not UTF-8: byte 0xe9 at position 140003 "),
        ("utf-8", ("\ufeff" + "a\n" * 70_000).encode("utf-16-le") + b"\x00\xd8a", "line 70001 is not UTF-16: byte"),
        ("utf-16", b"bread", "has no byte order mark; name its encoding with --encoding"),
        ("punycode", b"a\xe5\n", "is not PUNYCODE"),
        ("idna", b"xn--\xe5\n", "is not IDNA"),
    ],
)
@pytest.mark.parametrize("name", ["d.txt", "d.csv", "d.json"])
def test_other_encodings_are_named(tmp_path, name, encoding, content, message):
    if name == "d.json" and content.startswith(b"a"):
        content = b'"a"\n' + content[4:]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ReadError, match=message if name != "d.json" else ".") as caught:
        read(tmp_path / name, text=ALL, encoding=encoding)
    assert "\n" not in str(caught.value)


# ---------------------------------------------------------------- files of another kind


def packed(*names):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("first", "x" * 70_000)
        for name in names:
            archive.writestr(name, "x")
    return file.getvalue()


def tar():
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        archive.addfile(tarfile.TarInfo("a.txt"))
    return file.getvalue()


OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600
OTHERS = [
    ("d.xlsx", packed("xl/workbook.xml"), "an Excel workbook; save it as CSV"),
    ("d.csv", packed("xl/workbook.xml"), "an Excel workbook; save it as CSV"),
    ("d.docx", packed("word/document.xml"), "a Word document; save it as plain text"),
    ("d.zip", packed("a.txt"), "a zip archive; unpack it"),
    ("d.ods", b"PK\x03\x04\0...mimetypeapplication/vnd.oasis.opendocument.spreadsheet", "an OpenDocument spreadsheet"),
    ("d.odt", b"PK\x03\x04\0...mimetypeapplication/vnd.oasis.opendocument.text", "an OpenDocument text"),
    ("d.xls", OLE + "Workbook".encode("utf-16-le"), "an old Excel workbook"),
    ("d.doc", OLE + "WordDocument".encode("utf-16-le"), "an old Word document"),
    ("d.msi", OLE, "an old Office file"),
    ("d.pdf", b"%PDF-1.4\n%\xe2\xe3", "a PDF; convert it to plain text"),
    ("d.txt", b"%PDF-1.4\n1 0 obj", "a PDF; convert it to plain text"),
    ("d.rtf", b"{\\rtf1\\ansi", "rich text"),
    ("d.html", b" <!DOCTYPE HTML>\n<html>", "an HTML page"),
    ("d.csv", b"<html><body>please log in</body></html>", "an HTML page"),
    ("d.feather", b"ARROW1\0\0" + b"\0" * 50, "an Arrow .Feather. file; write it as Parquet"),
    ("d.csv", b"PAR1\x15\0", "a Parquet file; name it .parquet"),
    ("d.tar.gz", tar(), "a tar archive; unpack it"),
    ("d.sqlite", b"SQLite format 3\0", "an SQLite database"),
]


@pytest.mark.parametrize(("name", "content", "message"), OTHERS, ids=[message for _, _, message in OTHERS])
def test_files_of_another_kind_say_what_they_are(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ReadError, match=f"d.* is .*{message}"):
        read(tmp_path / name)
    with pytest.raises(ReadError, match=message):
        read(tmp_path / name, format="csv")


def test_a_page_named_as_text_is_still_read_by_lines(tmp_path):
    (tmp_path / "d.txt").write_text("<html>\nbread\n</html>\n")
    assert read(tmp_path / "d.txt", text=ALL).n_documents == 3


def test_a_folder_of_binary_files_says_what_they_are(tmp_path):
    (tmp_path / "a.docx").write_bytes(packed("word/document.xml"))
    with pytest.raises(ReadError, match=r"holds no text files; .*; a\.docx is a Word document"):
        read(tmp_path)
    (tmp_path / "b.html").write_text("<html>bread</html>")
    assert read(tmp_path, text=ALL).names == ("b.html",)


def test_a_folder_of_parquet_parts_is_refused(tmp_path):
    pq.write_table(pa.table({"text": ["bread"]}), tmp_path / "part-0.parquet")
    (tmp_path / "_SUCCESS").write_text("")
    with pytest.raises(ReadError, match=r"is a folder of 1 Parquet files; name one of them \(part-0.parquet\)"):
        read(tmp_path)


# ---------------------------------------------------------------- Parquet


def table(**columns):
    return pa.table({"id": ["a", "b"], **columns})


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.large_string())]
)
@pytest.mark.parametrize("settings", [{}, {"use_dictionary": False}, {"compression": "gzip"}, {"row_group_size": 1}])
def test_every_kind_of_string_column_is_read(tmp_path, kind, settings):
    pq.write_table(table(text=pa.array(["bread", None]).cast(kind)), tmp_path / "d.parquet", **settings)
    assert read_texts(tmp_path / "d.parquet", [0, 1]) == ["bread", ""]
    assert read(tmp_path / "d.parquet", text=ALL).names == ("a", "b")


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pa.array([b"a", b"b"]), "holds binary, not strings"),
        (pa.array([["a"], ["b"]]), "holds list<.*string>, not strings"),
        (pa.array([{"text": "a"}, {"text": "b"}]), "holds struct<.*, not strings"),
        (pa.nulls(2), "holds null, not strings"),
        (pa.array([Decimal("1"), None]), "holds decimal"),
    ],
)
def test_columns_of_other_types_are_refused(tmp_path, column, message):
    pq.write_table(table(text=column), tmp_path / "d.parquet")
    with pytest.raises(ReadError, match=message):
        read(tmp_path / "d.parquet")


def test_names_that_python_cannot_hold_are_refused(tmp_path):
    times = pa.array([2**62 + 1, 3], pa.timestamp("ns"))
    pq.write_table(table(text=["bread", "salt"], when=times), tmp_path / "d.parquet")
    assert read(tmp_path / "d.parquet", text=ALL).n_documents == 2
    days = pa.array([2**30, 3], pa.date32())
    pq.write_table(table(text=["bread", "salt"], when=days), tmp_path / "e.parquet")
    with pytest.raises(ReadError, match=r"column 'when'"):
        read(tmp_path / "e.parquet", name_field="when")


def test_columns_of_the_same_name_are_refused_only_if_needed(tmp_path):
    twice = pa.table([["bread"], ["salt"], [1]], names=["text", "text", "n"])
    pq.write_table(twice, tmp_path / "d.parquet")
    with pytest.raises(ReadError, match="several columns 'text'"):
        read(tmp_path / "d.parquet")
    pq.write_table(pa.table([["bread"], ["a"], ["b"]], names=["text", "x", "x"]), tmp_path / "d.parquet")
    assert read_texts(tmp_path / "d.parquet", [0]) == ["bread"]


def test_bytes_that_are_no_utf8_are_refused(tmp_path):
    column = pa.array([b"bread \xff", b"salt"]).cast(pa.binary()).view(pa.string())
    pq.write_table(table(text=column), tmp_path / "d.parquet")
    with pytest.raises(ReadError, match=r"column 'text'.*utf-8"):
        read(tmp_path / "d.parquet", text=ALL)


def test_a_damaged_list_of_columns_does_not_end_the_process(tmp_path, fresh_python):
    """Where a row group names a wrong size of its statistics, pyarrow's own accessor of that column aborts."""
    file = io.BytesIO()
    pq.write_table(table(text=["bread", "salt"]), file, compression="none")
    whole = file.getvalue()
    damaged = [bytes([*whole[:at], whole[at] ^ 8, *whole[at + 1 :]]) for at in range(len(whole) // 2, len(whole) - 8)]
    for number, content in enumerate(damaged):
        (tmp_path / f"{number}.parquet").write_bytes(content)
    code = """
import sys
from pathlib import Path
from stickbreak.corpus import read_texts
from stickbreak.exceptions import StickbreakError
for path in Path(sys.argv[1]).iterdir():
    try:
        read_texts(path, [0])
    except StickbreakError:
        pass
"""
    fresh_python(code, tmp_path)


# ---------------------------------------------------------------- what is not a path, what is not texts

FRAME = pd.DataFrame({"id": [1, 2], "text": ["bread", "salt"]})


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (FRAME, r"not a DataFrame; count its text column with stickbreak\.corpus\.count_texts\(frame, text='text'\)"),
        (pa.table({"text": ["a"]}), r"not a Table; .*count_texts\(frame, text='text'\)"),
        (FRAME["text"], r"not a Series; count texts with stickbreak\.corpus\.count_texts"),
        (["bread", "salt"], r"not a list; count texts with stickbreak\.corpus\.count_texts"),
        (np.ones((2, 2)), r"not an ndarray; counts become a corpus by stickbreak\.corpus\.Corpus\.from_counts"),
        (Corpus.from_counts([[1]]), "it is a Corpus already"),
        (b"d.txt", "not a bytes"),
        (io.StringIO("bread"), "give the path of the file"),
        (None, "not None; name a file or a folder"),
        (3, "not an int; name a file or a folder"),
        ("", "it is empty; name a file or a folder"),
        ("Once upon a time\nthere was", "not a text .*count_texts"),
        ("bread " * 1000, "not a text .*count_texts"),
    ],
)
@pytest.mark.parametrize("function", [read, lambda path: read_texts(path, [0])])
def test_what_is_not_a_path_says_what_to_call(value, message, function):
    with pytest.raises(InputError, match=message):
        function(value)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (FRAME, r"texts is a DataFrame, not a list of texts; .*count_texts\(frame, text='text'\)"),
        (np.ones((2, 2)), "texts is an ndarray, .*from_counts"),
        (FRAME["id"], "texts is a Series, .*from_counts"),
        (None, "texts is None"),
        (3, "texts is an int"),
        (b"bread", "texts is a bytes"),
        ({"a": "bread"}, "texts is a dict"),
        ([None, 3], "text 1 is int 3, not a string"),
        ([["bread"]], "text 0 is list"),
    ],
)
def test_what_is_not_texts_says_what_to_give(value, message):
    with pytest.raises(InvalidCorpus, match=message):
        count_texts(value)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("stop_words", 5), ("stop_words", [1]), ("min_df", "5"), ("min_df", None), ("max_df", [1]),
        ("max_features", "x"), ("max_features", 1.5), ("max_features", True), ("ngram_range", 5),
        ("ngram_range", ("a", "b")), ("ngram_range", (1, 2, 3)), ("token_pattern", 5), ("token_pattern", b"x"),
        ("token_pattern", "a{99999999999999}"), ("lowercase", "yes"), ("strip_accents", []),
    ],
)  # fmt: skip
def test_text_options_refuse_values_of_other_types(field, value):
    with pytest.raises(InputError, match=field):
        TextOptions(**{field: value})


def test_text_options_take_numbers_of_numpy():
    assert TextOptions(min_df=np.int64(3), max_df=np.float32(0.5)) == TextOptions(min_df=3, max_df=0.5)


@pytest.mark.parametrize(
    "settings",
    [
        {"text": "english"}, {"encoding": 3}, {"encoding": "a\0b"}, {"encoding": "rot13"}, {"text_field": [1]},
        {"name_field": 3}, {"chunk_size": "x"}, {"chunk_size": True}, {"vocabulary": 3}, {"vocabulary": [1]},
        {"format": 3}, {"format": ["csv"]},
    ],
)  # fmt: skip
def test_arguments_of_other_types_are_refused(tmp_path, settings):
    (tmp_path / "d.csv").write_text("id,text\n1,bread\n")
    with pytest.raises(InputError, match=next(iter(settings))):
        read(tmp_path / "d.csv", **settings)


@pytest.mark.parametrize("rows", [3, ["a"], [1.5], [True], None])
def test_rows_are_whole_numbers(tmp_path, rows):
    (tmp_path / "d.txt").write_text("bread\n")
    with pytest.raises(InputError, match="rows"):
        read_texts(tmp_path / "d.txt", rows)
