"""Tables as people have them: without a header, packed, in folders, with other quotes, from a pipe."""

import bz2
import gzip
import io
import json
import lzma
import subprocess
import sys
import zipfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stickbreak import count_files
from stickbreak.corpus import TextOptions, read, read_texts
from stickbreak.corpus.reading import tables
from stickbreak.exceptions import InputError, ReadError

ALL = TextOptions(min_df=1, max_df=1.0, stop_words=None)
ROWS = [("1", "fresh bread and salted butter"), ("2", "butter without any bread here"), ("3", "salt in the old jar")]
TEXTS = [text for _, text in ROWS]
CSV = "id,text\n" + "".join(f"{number},{text}\n" for number, text in ROWS)


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def zipped(content, name="t.csv", *others):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("__MACOSX/t.csv", b"")
        for member in (name, *others):
            archive.writestr(member, content)
    return file.getvalue()


PACKED = {
    "t.csv.gz": gzip.compress(CSV.encode()),
    "t.csv.bz2": bz2.compress(CSV.encode()),
    "t.csv.xz": lzma.compress(CSV.encode()),
    "t.csv.zst": pa.compress(CSV.encode(), "zstd", asbytes=True),
    "t.csv.zip": zipped(CSV),
    "export.zip": zipped(CSV, "inside/t.csv"),
}


@pytest.mark.parametrize("name", PACKED)
def test_packed_tables_are_read_and_counted(tmp_path, name):
    path = write(tmp_path / name, PACKED[name])
    assert read_texts(path, range(3)) == TEXTS
    assert count_files(path, tmp_path / "counts", text=ALL).n_documents == 3


def test_an_archive_of_several_files_names_them(tmp_path):
    with pytest.raises(ReadError, match=r"zip archive of 2 files \(a.csv, b.csv\); unpack it, and name the folder"):
        read(write(tmp_path / "t.zip", zipped(CSV, "a.csv", "b.csv")))


@pytest.mark.parametrize("first", ["sep=;\r\n", '"sep=;"\n'])
def test_the_first_line_of_excel_names_the_delimiter(tmp_path, first):
    path = write(tmp_path / "t.csv", first + CSV.replace(",", ";"))
    assert read_texts(path, range(3)) == TEXTS
    assert read(path, text=ALL).names == ("1", "2", "3")


@pytest.mark.parametrize("fill", ["", ";;"])
def test_titles_above_a_table_are_left_out_and_told(tmp_path, caplog, fill):
    rows = "".join(f"{number};{text};Ulm\n" for number, text in ROWS * 3)
    path = write(tmp_path / "t.csv", f"\ufeffAll answers{fill}\nof 2026{fill}\nNr;Comment;Town\n{rows}")
    assert read_texts(path, range(3)) == TEXTS
    assert "lines above the table that are left out: 2; its columns are Nr, Comment, Town" in caplog.text


def test_a_table_without_a_header_loses_no_document(tmp_path, caplog):
    path = write(tmp_path / "t.tsv", "".join(f"{text}\ttrain\n" for text in TEXTS))
    assert read_texts(path, range(3), text_field="0") == TEXTS
    assert "give --header (in Python: header=True)" in caplog.text
    assert read(path, text_field=0, header=False, keep=[1]).metadata.column_names == ["1"]
    assert read_texts(path, range(2), header=True, text_field=TEXTS[0]) == TEXTS[1:]
    one = write(tmp_path / "one.csv", "".join(f"{text}\n" for text in TEXTS))
    assert read_texts(one, range(3)) == TEXTS
    assert read_texts(one, range(2), header=True) == TEXTS[1:]
    numbered = write(tmp_path / "numbered.csv", "".join(f"{number},{text}\n" for number, text in ROWS))
    assert read_texts(numbered, range(3)) == TEXTS


def test_a_question_may_be_a_header(tmp_path):
    path = write(tmp_path / "t.csv", "What did you like best about it?\n" + "".join(f"{text}\n" for text in TEXTS))
    assert read_texts(path, range(3)) == TEXTS


def test_what_names_no_field_says_that_a_header_may_be_missing(tmp_path):
    with pytest.raises(ReadError, match=r"it is not clear which field.*give --no-header \(in Python: header=False\)"):
        read(write(tmp_path / "t.csv", "a,b\nx,y\nz,w\n"))
    with pytest.raises(InputError, match="header is 'no'"):
        read(write(tmp_path / "t.csv", CSV), header="no")


@pytest.mark.parametrize("header", ["ID, Text ", " id,TEXT", '"Id","text "'])
def test_names_of_columns_may_differ_in_case_and_blanks(tmp_path, header):
    path = write(tmp_path / "t.csv", CSV.replace("id,text", header))
    assert read(path, text=ALL).names == ("1", "2", "3")
    assert read_texts(path, range(3), text_field="text") == TEXTS


@pytest.mark.parametrize("names", ["text,text", "text,Text", "id,id"])
def test_columns_of_one_name_are_refused(tmp_path, names):
    path = write(tmp_path / "t.csv", CSV.replace("id,text", names))
    if names == "text,Text":
        assert read_texts(path, [0]) == ["1"]
    else:
        with pytest.raises(ReadError, match=r"several columns '(text|id)'|not clear"):
            read(path)


def test_columns_of_one_name_that_nobody_needs_are_none_of_our_business(tmp_path):
    path = write(tmp_path / "t.csv", ",,text\n1,2,bread\n")
    assert read_texts(path, [0]) == ["bread"]
    with pytest.raises(ReadError, match="several columns ''"):
        read(path, keep="all")


def test_quotes_written_with_a_backslash(tmp_path):
    rows = "".join(f'"{number}","the cook said \\"{text}\\", and left"\n' for number, text in ROWS)
    path = write(tmp_path / "t.csv", '"id","text"\n' + rows)
    assert read_texts(path, [0]) == [f'the cook said "{TEXTS[0]}", and left']
    late = CSV + "".join(f"{n},bread\n" for n in range(300)) + '9,"the \\"end\\" of it"\n'
    assert read_texts(write(tmp_path / "late.csv", late), [303]) == ['the "end" of it']


def test_stray_quotes_of_a_table_with_tabs_are_signs(tmp_path):
    lines = [f'{n}\t"bread {n}' if n % 3 else f'{n}\t"bread ""{n}"""' for n in range(300)]
    path = write(tmp_path / "t.tsv", "id\ttext\n" + "\n".join(lines) + "\n")
    assert read_texts(path, [0, 1, 299]) == ['bread "0"', '"bread 1', '"bread 299']


def test_delimiters_at_the_end_of_rows_are_no_fields(tmp_path):
    path = write(tmp_path / "t.csv", "id,text\n1,bread,\n2,butter,,\n")
    assert read_texts(path, range(2)) == ["bread", "butter"]


def test_folders_of_tables_are_one_collection_with_what_their_names_say(tmp_path):
    for year, texts in ((2020, TEXTS[:2]), (2021, TEXTS[2:])):
        folder = tmp_path / "out" / f"year={year}" / "city=Sao%20Paulo"
        folder.mkdir(parents=True)
        pq.write_table(pa.table({"text": texts}), folder / "part-0.parquet")
        (folder / ".part-0.parquet.crc").write_bytes(b"crc\0")
    (tmp_path / "out" / "_SUCCESS").write_text("")
    corpus = read(tmp_path / "out", keep=["year", "city"], text=ALL)
    assert corpus.metadata.to_pydict() == {"year": [2020, 2020, 2021], "city": ["Sao Paulo"] * 3}
    counted = count_files(tmp_path / "out", tmp_path / "counts", keep="all", text=ALL).open()
    assert counted.metadata.column_names == ["year", "city"]
    assert (counted.counts != corpus.counts).nnz == 0
    parts = tmp_path / "month=3"
    parts.mkdir()
    for number in range(2):
        write(parts / f"part-{number}.csv", CSV)
    assert read(tmp_path / "month=3", text=ALL).n_documents == 6


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_fields_inside_objects_can_be_named(tmp_path, kind):
    rows = [{"id": number, "post": {"lang": "en", "body": text}} for number, text in ROWS]
    path = tmp_path / f"t.{kind}"
    if kind == "jsonl":
        write(path, "".join(json.dumps(row) + "\n" for row in rows))
    else:
        pq.write_table(pa.Table.from_pylist(rows), path)
    corpus = read(path, text_field="post.body", keep=["post.lang"], text=ALL)
    assert corpus.names == ("1", "2", "3")
    assert corpus.metadata["post.lang"].to_pylist() == ["en"] * 3
    assert read(path, text=ALL).words == corpus.words
    assert read_texts(path, range(3), text_field="post.body") == TEXTS


def test_a_text_inside_an_object_is_taken_rather_than_an_identifier(tmp_path, caplog):
    rows = [{"_id": f"a{number}", "post": {"lang": "en", "body": text}} for number, text in ROWS]
    rows[0]["post"] = {"lang": "en", "body": None}
    write(tmp_path / "t.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    assert read_texts(tmp_path / "t.jsonl", range(3)) == ["", *TEXTS[1:]]
    assert "taken from 'post.body'" in caplog.text
    write(tmp_path / "t.jsonl", "".join(json.dumps({"summary": TEXTS[0], **row}) + "\n" for row in rows))
    with pytest.raises(ReadError, match=r"not clear which field .*: 'summary', '_id', 'post\.lang', 'post\.body'"):
        read(tmp_path / "t.jsonl")


def test_the_column_of_several_words_is_the_text_of_parquet_as_of_csv(tmp_path):
    texts = ["Bread rises slowly in a warm oven.", None, "The crust of rye bread is dark and thick."]
    frame = {"posted": ["2026-11-23"] * 3, "review": texts, "stars": [1, 2, 3]}
    pq.write_table(pa.table(frame), tmp_path / "t.parquet")
    assert "crust" in read(tmp_path / "t.parquet", text=ALL).words
    pq.write_table(pa.table({**frame, "reply": texts}), tmp_path / "t.parquet")
    with pytest.raises(ReadError, match="not clear which field"):
        read(tmp_path / "t.parquet")


@pytest.mark.parametrize("kind", ["jsonl", "json", "parquet"])
def test_lists_of_words_are_taken_as_they_are(tmp_path, kind):
    lists = [["New York", "the", "AI"], [], ["the", "the", "5G"]]
    rows = [{"id": str(n), "text": words} for n, words in enumerate(lists)]
    path = tmp_path / f"t.{kind}"
    if kind == "parquet":
        pq.write_table(pa.table({"id": ["0", "1", "2"], "text": lists}), path)
    else:
        write(path, json.dumps(rows) if kind == "json" else "".join(json.dumps(row) + "\n" for row in rows))
    corpus = read(path, text=TextOptions(min_df=1, max_df=1.0))
    assert corpus.words == ("5G", "AI", "New York", "the")
    assert corpus.counts.toarray().tolist() == [[0, 1, 1, 1], [0, 0, 0, 0], [1, 0, 0, 2]]
    counted = count_files(path, tmp_path / "counts", text=TextOptions(min_df=1, max_df=1.0)).open()
    assert (counted.counts != corpus.counts).nnz == 0
    assert read_texts(path, [0]) == ["New York the AI"]
    assert read(path, text=TextOptions(min_df=1, max_df=1.0, stop_words=("the",))).words == ("5G", "AI", "New York")


def test_standard_input_is_read_once_and_used_often():
    code = "from stickbreak.corpus import read, read_texts; print(len(read('-')), read_texts('/dev/stdin', [1])[0])"
    lines = "".join(json.dumps({"text": text}) + "\n" for text in TEXTS * 30)
    done = subprocess.run([sys.executable, "-c", code], input=lines, capture_output=True, text=True, check=True)
    assert done.stdout == f"90 {TEXTS[1]}\n"


FIELDS = st.text(st.sampled_from('ab ,;"\t\n\r\\é\u2028'), max_size=8)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=200)
@given(
    st.lists(st.tuples(FIELDS, FIELDS), min_size=1, max_size=8),
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from("\n\r"),
)
def test_arrow_and_python_cut_the_same_fields(tmp_path_factory, rows, delimiter, end):
    """Whether a block is cut by pyarrow, or row by row, or in pieces of any size, makes no difference."""
    import csv

    path = tmp_path_factory.mktemp("cut") / "t.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(
            file, delimiter=delimiter, lineterminator="\r\n" if end == "\r" else "\n", quoting=csv.QUOTE_ALL
        )
        writer.writerows([("id", "text"), *(("x", first) for first, _ in rows)])
    expected = [first for first, _ in rows]
    assert read_texts(path, range(len(rows)), delimiter=delimiter) == expected
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables.Table, "_parsed", lambda *_: None)
        assert read_texts(path, range(len(rows)), delimiter=delimiter) == expected
    with pytest.MonkeyPatch.context() as patch:
        from stickbreak.corpus.reading import decoding

        patch.setattr(decoding, "_BLOCK", 5)
        assert read_texts(path, range(len(rows)), delimiter=delimiter) == expected
