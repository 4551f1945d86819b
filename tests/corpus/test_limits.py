"""A small file cannot take the memory: documents, packed files and declared sizes have limits that can be raised."""

import gzip
import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from stickbreak.corpus import (
    Corpus,
    GroupedVectors,
    ReadLimits,
    TextOptions,
    open_vectors,
    read,
    read_texts,
    write_corpus,
    write_vectors,
)
from stickbreak.exceptions import InputError, ReadError

ALL = TextOptions(min_df=1, max_df=1.0, stop_words=None)
LONG = "bread " * 50  # 300 bytes
SHORT = ReadLimits(document_bytes=200)


def parquet(texts, **settings):
    file = io.BytesIO()
    pq.write_table(pa.table({"text": texts}), file, **settings)
    return file.getvalue()


FILES = {
    "d.txt": f"salt\n{LONG}\n".encode(),
    "d.jsonl": f'"salt"\n{json.dumps(LONG)}\n'.encode(),
    "d.json": json.dumps(["salt", LONG]).encode(),
    "d.csv": f"id,text\n1,salt\n2,{LONG}\n".encode(),
    "q.csv": ('id,text\n1,salt\n2,"' + "bread\n" * 50 + '"\n').encode(),
    "u.txt": f"salt\n{LONG}\n".encode("utf-16"),
    "d.parquet": parquet(["salt", LONG]),
}


@pytest.mark.parametrize("name", [*FILES, *(f"{name}.gz" for name in FILES if not name.endswith("parquet"))])
def test_long_documents_are_refused_until_the_limit_is_raised(tmp_path, name):
    content = FILES[name.removesuffix(".gz")]
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    with pytest.raises(ReadError, match=r"is longer than 200 bytes; .*--max-document-bytes .*ReadLimits\(document_byt"):
        read(tmp_path / name, text=ALL, limits=SHORT)
    with pytest.raises(ReadError, match="is longer than 200 bytes"):
        read_texts(tmp_path / name, [1], limits=SHORT)
    limits = ReadLimits(document_bytes=5000)
    assert read(tmp_path / name, text=ALL, limits=limits).n_documents == 2


def test_files_of_a_folder_and_words_of_a_vocabulary_have_the_same_limit(tmp_path):
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "a").write_text(LONG)
    with pytest.raises(ReadError, match=r"the document .*a is longer than 200 bytes"):
        read(folder, text=ALL, limits=SHORT)
    (tmp_path / "d.txt").write_text("salt\n")
    (tmp_path / "words.txt").write_text("salt\n" + "a" * 300 + "\n")
    with pytest.raises(ReadError, match=r"line 2 of .*words\.txt is longer"):
        read(tmp_path / "d.txt", vocabulary=tmp_path / "words.txt", limits=SHORT)
    write_corpus(Corpus.from_counts([[1]], ["a" * 300]), tmp_path / "c")
    with pytest.raises(ReadError, match=r"line 1 of .*vocabulary\.jsonl is longer"):
        read(tmp_path / "c", limits=SHORT)


@pytest.mark.parametrize("name", ["d.txt.gz", "d.jsonl.gz", "d.json.gz", "d.csv.gz", "u.txt.gz"])
def test_packed_files_that_unpack_to_too_much_are_refused(tmp_path, name):
    content = FILES[name.removesuffix(".gz")]
    (tmp_path / name).write_bytes(gzip.compress(content))
    with pytest.raises(ReadError, match=r"unpacks to more than 250 bytes; .*--max-unpacked-bytes"):
        read(tmp_path / name, text=ALL, limits=ReadLimits(unpacked_bytes=250))
    assert read(tmp_path / name, text=ALL, limits=ReadLimits(unpacked_bytes=len(content))).n_documents == 2


def test_a_line_of_a_gigabyte_is_not_held(tmp_path, fresh_python):
    packed = gzip.compress(b"a" * (1 << 24), 1) * 64  # members of a gzip file follow one another
    (tmp_path / "d.txt.gz").write_bytes(packed)
    code = """
import resource, sys
from stickbreak.corpus import read
from stickbreak.exceptions import ReadError
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    read(sys.argv[1])
except ReadError as error:
    print(error)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""
    message, more = fresh_python(code, tmp_path / "d.txt.gz").stdout.splitlines()
    assert "longer than 64 MiB" in message
    assert int(more) < 400  # MiB


def test_empty_lines_in_a_quote_that_does_not_end_count(tmp_path):
    (tmp_path / "d.csv").write_text('id,text\n1,"' + "\n" * 10_000)
    with pytest.raises(
        ReadError, match=r"begins on line 2 .perhaps a quote is not closed. is longer than 100,000 bytes"
    ):
        read(tmp_path / "d.csv", limits=ReadLimits(document_bytes=100_000))


def test_parquet_rows_are_believed_up_to_a_limit(tmp_path):
    (tmp_path / "d.parquet").write_bytes(parquet(pa.array(["bread"]).take(pa.array([0] * 5000))))
    size = (tmp_path / "d.parquet").stat().st_size
    assert size < 5000
    with pytest.raises(ReadError, match=r"declares 5,000 rows but has only .* --max-declared"):
        read(tmp_path / "d.parquet", text=ALL, limits=ReadLimits(declared_size=10))
    with pytest.raises(ReadError, match=r"declares columns of .* --max-unpacked-bytes"):
        read(tmp_path / "d.parquet", text=ALL, limits=ReadLimits(unpacked_bytes=10))
    assert read(tmp_path / "d.parquet", text=ALL).n_documents == 5000


@pytest.mark.parametrize("limits", [3, {"document_bytes": 5}, "64 MiB"])
def test_limits_are_read_limits(tmp_path, limits):
    (tmp_path / "d.txt").write_text("bread\n")
    with pytest.raises(InputError, match=r"limits is .*ReadLimits"):
        read(tmp_path / "d.txt", limits=limits)


def npy(descr="<i4", shape="(4,)", order="False", data=b"\0" * 16):
    header = f"{{'descr': {descr!r}, 'fortran_order': {order}, 'shape': {shape}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\0" + len(header).to_bytes(2, "little") + header + data


@pytest.mark.parametrize(
    "content",
    [
        npy(shape="(1099511627776,)"),
        npy(shape="(-1,)"),
        npy(shape="(4611686018427387904, 4)"),
        npy(descr="|O"),
        npy(descr="|V0"),
        npy(shape="(True, {"),
        npy(shape="((((" * 200),
        npy(data=b"\0" * 12),
        npy(shape="(0,)", data=b"\0"),
        b"\x93NUMPY\x01\0\xff\xff{",
        b"\x93NUMPY\x09\0",
        b"",
    ],
)
def test_arrays_whose_header_lies_are_refused(tmp_path, content):
    write_corpus(Corpus.from_counts([[2, 0], [0, 3]], ["bread", "salt"]), tmp_path / "c")
    write_vectors(GroupedVectors.from_arrays([np.ones((2, 2))]), tmp_path / "v")
    for opened, array in ((read, "c/data.npy"), (read, "c/indptr.npy"), (open_vectors, "v/values.npy")):
        whole = (tmp_path / array).read_bytes()
        (tmp_path / array).write_bytes(content)
        with pytest.raises(ReadError, match=r"npy is damaged|cannot be read"):
            opened((tmp_path / array).parent)
        (tmp_path / array).write_bytes(whole)
        opened((tmp_path / array).parent)
