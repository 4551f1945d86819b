"""Files of counts and sparse matrices that ended the process, took gigabytes or raised raw errors: refused."""

import gzip
import io
import re
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

from stickbreak import CollapsedHDP
from stickbreak.corpus import Corpus, read
from stickbreak.corpus.reading.ldac import read_ldac
from stickbreak.corpus.reading.limits import ReadLimits
from stickbreak.corpus.reading.matrix_market import read_matrix_market
from stickbreak.corpus.reading.npz import read_npz
from stickbreak.corpus.reading.uci import read_uci
from stickbreak.exceptions import InvalidCorpus, ReadError

BANNER = b"%%MatrixMarket matrix coordinate integer general\n"
REAL = b"%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n"
PATTERN = b"%%MatrixMarket matrix coordinate pattern general\n"
ARRAY = b"%%MatrixMarket matrix array real general\n"
BODY = b"".join(b"%d %d 1\n" % (i % 100 + 1, i % 50 + 1) for i in range(1000))
TABLE = np.array([[1, 0, 0, 2], [0, 3, 0, 0], [0, 0, 4, 0], [0, 0, 0, 5]])
FORMATS = ("csr", "csc", "bsr", "coo", "dia", "lil", "dok")


def refusal(path, **settings):
    """Give the sentence that refuses a file."""
    with pytest.raises((ReadError, InvalidCorpus)) as caught:
        read(path, **settings)
    message = str(caught.value)
    assert path.name in message
    assert "\n" not in message
    assert len(message) < 400
    return message


def write(path, content):
    path.write_bytes(content)
    return path


# ---------------------------------------------------------------- Matrix Market


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"a\nb\nc", "begins with 'a', so it is not a Matrix Market file"),
        (b"a\n", "not a Matrix Market file"),
        (b"hello\nworld\nfoo\n", "not a Matrix Market file"),
        (b"%%MatrixMarke matrix coordinate integer general\n2 2 1\n1 1 3\n", "not a Matrix Market file"),
        (b"MatrixMarket matrix coordinate integer general\n2 2 1\n1 1 3\n", "not a Matrix Market file"),
        (b"id,text\n1,hello there\n2,foo bar\n", "not a Matrix Market file"),
        (b"<html>\n<body>404 not found</body>\n</html>\n", "not a Matrix Market file"),
        (b"\xff\xfe\x00" * 9, "not a Matrix Market file"),
        (b"\n" + BANNER + b"1 1 1\n1 1 1\n", "not a Matrix Market file"),
        (BANNER.replace(b"integer", b"strange") + b"100 50 1000\n" + BODY, "line 1 names 'strange general'"),
        (BANNER.replace(b"general", b"diagonal") + b"100 50 1000\n" + BODY, "line 1 names 'integer diagonal'"),
        (b"%%MatrixMarket matrix array pattern general\n1 1\n1\n", "line 1 names 'pattern general'"),
        (BANNER.replace(b"matrix ", b"vector ") + b"2 1\n1 1\n", "line 1 must read"),
        (b"%%MatrixMarket matrix\n2 2 1\n1 1 1\n", "line 1 must read"),
        (BANNER.replace(b"integer", b"complex") + b"100 50 1000\n" + BODY, "complex numbers"),
        (BANNER, "ends before its line of sizes"),
        (BANNER + BODY, "line 3 names row 2, but the Matrix Market file has 1"),
        (BANNER + b"-100 50 1000\n" + BODY, "line 2 is '-100 50 1000'"),
        (BANNER + b"100 99999999999999999999999 1000\n" + BODY, "line 2 is '100 99999"),
        (BANNER + b"100 50\n" + BODY, "line 2 is '100 50'"),
        (BANNER + b"% x\n\n100 50 1000\n" + BODY.replace(b"17 17 1\n", b"17 x 1\n", 1), "line 21 is '17 x 1'"),
        (BANNER + b"10 50 1000\n" + BODY, "line 13 names row 11"),
        (BANNER + b"100 50 2000\n" + BODY, "of 1000 entries, but its line 2 asks for 2000"),
        (BANNER + b"100 50 10\n" + BODY, "of 1000 entries, but its line 2 asks for 10"),
        (BANNER + b"1 1 1\n1 1 9223372036854775808\n", "whole number below 2^63"),
        (BANNER + b"1 1 1\n1 1 1.5\n", "line 3 holds '1.5' where this Matrix Market file must have a whole number"),
        (BANNER + b"1 1 1\n1 1 0x10\n", "line 3 holds '0x10'"),
        (REAL + b"2 2 7\xe9", r"line 4 holds '7\\xe9'"),
        (REAL + b"2 2 7.5\x0e", r"line 4 holds '7.5\x0e'"),
        (REAL + b"2 2 7x", "line 4 holds '7x'"),
        (REAL + b"2 2 7\x00", r"line 4 holds '7\x00'"),
        (REAL + b"2 2 7\x00\n", r"line 4 holds '7\x00'"),
        (REAL + b"2 2 1_0\n", "line 4 holds '1_0'"),
        (REAL + b"2 2 \n", "line 4 is '2 2'; an entry of this Matrix Market file must read: row, column, value"),
        (REAL + b"2 2", "line 4 is '2 2'"),
        (REAL + b"2 2 nanx", "line 4 holds 'nanx'"),
        (REAL + b"2 2 nan", "is nan; counts must be finite"),
        (REAL + b"2 2 1e999", "is inf; counts must be finite"),
        (ARRAY + b"2 1\n1\n2x", "line 4 holds '2x'"),
        (ARRAY + b"0 3\n1\n", "of 1 entries, but its line 2 asks for 0"),
        (ARRAY + b"0 3\n", "no documents"),
        (ARRAY.replace(b"general", b"symmetric") + b"2 3\n1\n2\n3\n", "declares 2 rows and 3 columns"),
        (ARRAY.replace(b"general", b"symmetric") + b"2 2\n7\n", "asks for 3"),
        (BANNER.replace(b"general", b"symmetric") + b"2 3 1\n1 3 5\n", "not square, so it cannot be symmetric"),
        (BANNER + b"2000000000 2 1\n1 1 1\n", "declares 2000000000 documents in 70 bytes"),
        (BANNER + b"2 2000000000 1\n1 1 1\n", "declares 2000000000 words in 70 bytes"),
        (BANNER + b"9000000000000000000 2 1\n1 1 1\n", "declares 9000000000000000000 documents"),
        (BANNER + b"2 2 1000000000000\n1 1 1\n", "asks for 1000000000000"),
        (ARRAY + b"3000000000 3000000000\n1\n", "asks for 9000000000000000000"),
        (BANNER + b"1 1 2\n1 1 9223372036854775807\n1 1 9223372036854775807\n", "counts above 2147483647"),
    ],
)
def test_broken_matrix_market_files_are_refused(tmp_path, content, part, packed):
    path = write(tmp_path / ("a.mtx.gz" if packed else "a.mtx"), gzip.compress(content) if packed else content)
    assert part in refusal(path)


@pytest.mark.parametrize(
    ("content", "table"),
    [
        (REAL + b"2 2 7 ", [[1, 0], [0, 7]]),
        (REAL + b"2 2 7", [[1, 0], [0, 7]]),
        (REAL + b"2 2 7\r", [[1, 0], [0, 7]]),
        (REAL.replace(b"\n", b"\r\n") + b" 2\t2  7.0 \r\n \r\n\r\n", [[1, 0], [0, 7]]),
        (REAL + b"\n \t\n2 2 7 what follows is ignored\n", [[1, 0], [0, 7]]),
        (REAL + b"2 2 1.5D+01\n", [[1, 0], [0, 15]]),
        (PATTERN + b"2 2 2\n1 2\n2 1", [[0, 1], [1, 0]]),
        (PATTERN + b"2 2 2\n1 2\n2 1\r", [[0, 1], [1, 0]]),
        (PATTERN.replace(b"general", b"symmetric") + b"2 2 2\n1 1\n2 1\n", [[1, 1], [1, 0]]),
        (BANNER.replace(b"general", b"hermitian") + b"2 2 1\n2 1 5.0\n", [[0, 5], [5, 0]]),
        (BANNER.replace(b"integer", b"unsigned-integer") + b"% x\n  % y\n\n1 2 1\n1 2 5\n", [[0, 5]]),
        (b" %MatrixMarket MATRIX  Coordinate DOUBLE general x\n2 1 3\n1 1 .5\n2 1 1e1\n1 1 00.5\n", [[1], [10]]),
        (ARRAY + b"2 3\n1\n\n2\n3\r\n4 x\n 5\n6", [[1, 3, 5], [2, 4, 6]]),
        (ARRAY.replace(b"general", b"symmetric") + b"3 3\n1\n2\n3\n4\n5\n6\n", [[1, 2, 3], [2, 4, 5], [3, 5, 6]]),
        (ARRAY.replace(b"general", b"skew-symmetric") + b"2 2\n0\n", [[0, 0], [0, 0]]),
    ],
)
def test_matrix_market_is_read_in_every_layout(tmp_path, content, table):
    assert read(write(tmp_path / "a.mtx", content)).counts.toarray().tolist() == table
    assert read(write(tmp_path / "b.mtx", gzip.compress(content))).counts.toarray().tolist() == table


def random_market(random):
    """Make a valid file in a free layout, and say what is in it."""
    kind = random.choice(["real", "integer", "unsigned-integer", "pattern"])
    symmetry = random.choice(["general", "symmetric", "skew-symmetric"]) if kind != "unsigned-integer" else "general"
    D = int(random.integers(1, 6))
    W = D if symmetry != "general" else int(random.integers(1, 6))
    dense = kind != "pattern" and random.random() < 0.4
    blank = (lambda: random.choice([" ", "  ", "\t", " \t "])) if random.random() < 0.5 else (lambda: " ")
    end = random.choice(["\n", "\r\n"])
    lowest = 1 if symmetry == "skew-symmetric" else 0
    if dense:
        places = [(i, j) for j in range(W) for i in range(D) if symmetry == "general" or i >= j + lowest]
    else:
        places = [tuple(int(n) for n in random.integers(0, (D, W))) for _ in range(random.integers(0, 9))]
    lines = [f"%%MatrixMarket matrix {'array' if dense else 'coordinate'} {kind} {symmetry}", "% a comment", ""]
    lines.append(f"{D}{blank()}{W}" + ("" if dense else f"{blank()}{len(places)}"))
    for i, j in places:
        number = repr(float(random.normal() * 10.0 ** random.integers(-200, 200))) if kind == "real" else ""
        number = number or ("" if kind == "pattern" else str(random.integers(0, 1000)))
        place = "" if dense else f"{i + 1}{blank()}{j + 1}{blank()}"
        lines += [random.choice(["", " ", "\t"]) + place + number + random.choice(["", " ", "\t"])]
        lines += [random.choice(["", " "])] if random.random() < 0.1 else []
    return end.join(lines) + end


def test_matrix_market_is_read_as_scipy_reads_it(tmp_path, seed):
    from scipy.io import mmread

    random = np.random.default_rng(seed)
    for _ in range(300):
        content = random_market(random).encode()
        expected = sp.coo_matrix(mmread(io.BytesIO(content)))
        found = read_matrix_market(write(tmp_path / "a.mtx", content))
        assert found.shape == expected.shape, content
        np.testing.assert_array_equal(found.tocsr().toarray(), expected.tocsr().toarray(), err_msg=repr(content))


# ---------------------------------------------------------------- .npz


def npy(array):
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def header_only(shape, descr="<i4"):
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": descr, "fortran_order": False, "shape": shape})
    return file.getvalue()


def archive(path, method=zipfile.ZIP_DEFLATED, **members):
    with zipfile.ZipFile(path, "w", method) as file:
        for name, content in members.items():
            raw = isinstance(content, bytes) and (name != "format" or content.startswith(b"\x93"))
            file.writestr(f"{name}.npy", content if raw else npy(np.asarray(content)))
    return path


def compressed(path, shape=(2, 2), indptr=(0, 1, 2), indices=(0, 1), data=(1, 1), format=b"csr", **more):
    return archive(path, format=format, shape=shape, indptr=indptr, indices=indices, data=data, **more)


@pytest.mark.parametrize(
    ("members", "part"),
    [
        ({"indices": (0, 7)}, "an index is 7, outside of 0 to 1"),
        ({"indices": (0, -7)}, "an index is -7"),
        ({"indptr": (0, 2, 1)}, "indptr must begin with 0 and never fall"),
        ({"indptr": (0, 1, 900000000)}, "indptr ends at 900000000"),
        ({"indptr": (0, 1)}, "indptr has 2 entries where its shape asks for 3"),
        ({"indptr": np.zeros(0, int)}, "indptr has 0 entries"),
        ({"format": b"csc", "indices": (0, 70000000)}, "an index is 70000000"),
        ({"format": b"csc", "indices": (0, -70000000)}, "an index is -70000000"),
        ({"format": b"csc", "shape": (2, 3), "indptr": (0, 500000, -3, 2)}, "indptr must begin with 0"),
        ({"format": b"csc", "shape": (2 * 10**9, 2)}, "declares 2000000000 documents"),
        ({"format": b"csc", "shape": (10**18, 2)}, "declares 1000000000000000000 documents"),
        ({"shape": (2, 2 * 10**9)}, "raise the limit with --max-declared (in Python: limits=ReadLimits(declared_size="),
        ({"format": b"bsr", "shape": (4, 4), "indices": (0, 5), "data": np.ones((2, 2, 2))}, "an index is 5"),
        ({"format": b"bsr", "data": np.ones((2, 0, 1))}, "blocks of 0 x 1"),
        ({"format": b"bsr", "shape": (3, 4), "data": np.ones((2, 2, 2))}, "blocks of 2 x 2 do not fill"),
        ({"format": b"bsr"}, "'data' has 1 dimensions, not 3"),
        ({"data": (1,)}, "for 2 indices and 1 values"),
        ({"data": ((1, 1),)}, "'data' has 2 dimensions"),
        ({"data": header_only((2**40,))}, "says 4398046511104 bytes but has 0"),
        ({"data": header_only((10**9,))}, "says 4000000000 bytes but has 0"),
        ({"data": header_only((2,), "<f3")}, "not an array of plain numbers"),
        ({"data": header_only((2,))[:40]}, "not an array of plain numbers"),
        ({"data": np.zeros(2, [("a", "i4")])}, "not an array of plain numbers"),
        ({"data": np.array(["2020", "2021"], "M8[Y]")}, "not an array of plain numbers"),
        ({"data": np.array([{}, {}], object)}, "not an array of plain numbers"),
        ({"data": ("7", "7")}, "dtype <U1"),
        ({"data": (1j, 1j)}, "complex numbers"),
        ({"data": np.array([2**63, 1], np.uint64)}, "counts above 2147483647"),
        ({"data": np.array([np.inf, 1], np.float16)}, "is inf; counts must be finite"),
        ({"data": b""}, "not an array"),
        ({"data": b"\x93NUMPY\x01\x00\xff\xff{"}, "not an array"),
        ({"data": b"\x93NUMPY\x01\x00\x08\x00" + b"{'descr'"}, "not an array of plain numbers"),
        ({"data": b"\x93NUMPY\x02\x00\x00\x10\x00\x00" + b"(" * 4096}, "not an array of plain numbers"),
        ({"data": b"\x93NUMPY\x01\x00\x00\x10" + b"{'shape': (" + b"1" * 4085}, "not an array of plain numbers"),
        ({"indices": (0.0, 1.0)}, "'indices' has the dtype float64"),
        ({"indices": np.array([0, 2**63], np.uint64)}, "an index is -9223372036854775808"),
        ({"shape": (2, 2, 2)}, "a matrix of 3 dimensions"),
        ({"shape": (2,)}, "a matrix of 1 dimensions"),
        ({"shape": (2, -2)}, "its shape is (2, -2)"),
        ({"shape": 2}, "'shape' has 0 dimensions"),
        ({"format": b"lil"}, "its format is 'lil'"),
        ({"format": b"\xff\xfe"}, "its format is"),
        ({"format": 7}, "'format' has the dtype int64"),
        ({"format": (b"csr", b"csc")}, "'format' is not one word"),
        ({"format": np.array({}, object)}, "not an array of plain numbers"),
    ],
)
def test_broken_npz_members_are_refused(tmp_path, members, part):
    assert part in refusal(compressed(tmp_path / "a.npz", **members))


@pytest.mark.parametrize(
    ("members", "part"),
    [
        ({"row": [9000000], "col": [0], "data": [1]}, "a row number is 9000000, outside of 0 to 1"),
        ({"row": [-1], "col": [0], "data": [1]}, "a row number is -1"),
        ({"row": [0], "col": [2], "data": [1]}, "a column number is 2"),
        ({"row": [0, 1], "col": [0], "data": [1]}, "2 row numbers for 1 values"),
        ({"coords": [[0], [1], [0]], "data": [1]}, "'coords' has 3 rows, not 2"),
        ({"coords": [[0], [5]], "data": [1]}, "a column number is 5"),
        ({"data": [1]}, "no members 'row'"),
        ({"row": [0], "col": [0], "data": [1], "shape": [2 * 10**9, 2]}, "declares 2000000000 documents"),
    ],
)
def test_broken_npz_coordinates_are_refused(tmp_path, members, part):
    path = archive(tmp_path / "a.npz", **{"format": b"coo", "shape": [2, 2], **members})
    assert part in refusal(path)


def test_broken_npz_diagonals_are_refused_and_outside_ones_hold_nothing(tmp_path):
    def dia(offsets, data, shape=(2, 2)):
        return archive(tmp_path / "a.npz", format=b"dia", shape=shape, offsets=offsets, data=np.asarray(data))

    assert "1 offsets for 2 diagonals" in refusal(dia([0], np.ones((2, 2))))
    assert "an offset occurs twice" in refusal(dia([1, 1], np.ones((2, 2))))
    assert "declares 2000000000 documents" in refusal(dia([0], np.ones((1, 2)), (2 * 10**9, 2)))
    found = read(dia([0, 2**62, -(2**63), 2**40], np.ones((4, 2)))).counts
    assert found.toarray().tolist() == [[1, 0], [0, 1]]


def test_broken_archives_are_refused(tmp_path):
    path = compressed(tmp_path / "a.npz", data=range(2))
    good = path.read_bytes()
    place = good.index(b"PK\x01\x02")
    broken = {
        "encrypted": good.replace(b"PK\x01\x02\x14\x03\x14\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x01"),
        "unknown method": good[: place + 10] + b"\x63" + good[place + 11 :],
        "later version": good[: place + 6] + b"\xff" + good[place + 7 :],
        "no directory": good[:place],
        "cut off": good[: len(good) // 2],
        "not a zip": b"PK no zip",
        "wrong checksum": good[: place + 16] + b"\0\0\0\0" + good[place + 20 :],
        "name that is not UTF-8": good[: place + 8]
        + b"\x00\x08"
        + good[place + 10 : place + 46]
        + b"\xff"
        + good[place + 47 :],
    }
    for what, content in broken.items():
        assert content != good, what
        assert "does not hold a SciPy sparse matrix" in refusal(write(tmp_path / "b.npz", content)), what


def test_member_that_occurs_twice_is_refused(tmp_path):
    path = compressed(tmp_path / "a.npz")
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(path, "a") as file:
        file.writestr("data.npy", npy(np.array([5, 5])))
    assert "it has 2 members 'data'" in refusal(path)


def test_zip_bomb_is_refused_until_the_limit_is_raised(tmp_path):
    path = compressed(tmp_path / "a.npz", indices=(0, 1), data=np.ones(3000, np.int8), indptr=(0, 1, 2))
    with pytest.raises(ReadError, match=r"to 3128 bytes.*--max-unpacked-bytes.*ReadLimits\(unpacked_bytes=3128\)"):
        read_npz(path, ReadLimits(unpacked_bytes=3127))
    with pytest.raises(ReadError, match="2 indices and 3000 values"):
        read_npz(path, ReadLimits(unpacked_bytes=3128))


def test_npz_that_ended_the_process_is_refused(tmp_path):
    """Two of the indices of its blocks lead far outside."""
    path = tmp_path / "e.npz"
    sp.save_npz(path, sp.bsr_matrix(TABLE), compressed=False)
    with zipfile.ZipFile(path) as file:
        members = {name.removesuffix(".npy"): file.read(name) for name in file.namelist()}
    indices = np.load(io.BytesIO(members["indices"]))
    indices[0] = 0x40000000
    assert "an index is 1073741824" in refusal(archive(path, **{**members, "indices": indices}))


@pytest.mark.parametrize("compress", [True, False])
@pytest.mark.parametrize("array", [True, False])
@pytest.mark.parametrize("format", ["csr", "csc", "bsr", "coo", "dia"])
def test_npz_of_every_format_is_read(tmp_path, format, array, compress):
    for dtype in (bool, np.int8, np.uint16, np.int64, np.uint64, np.float32, np.float64):
        matrix = getattr(sp, f"{format}_{'array' if array else 'matrix'}")(TABLE.astype(dtype))
        sp.save_npz(tmp_path / "a.npz", matrix, compressed=compress)
        np.testing.assert_array_equal(read(tmp_path / "a.npz").counts.toarray(), TABLE.astype(dtype))


@pytest.mark.parametrize("format", [b"csr", "csr", [b"csr"]])
def test_npz_of_other_writers_is_read(tmp_path, format):
    fortran = np.asfortranarray(np.arange(1, 9).reshape(2, 2, 2))
    np.savez(
        tmp_path / "a.npz", names=np.array(["x", "y"]), format=np.array(format), data=[1.5, 2],
        indices=np.uint8([0, 1]), indptr=np.uint64([0, 1, 2]), shape=(2, 2),
    )  # fmt: skip
    assert read(tmp_path / "a.npz").counts.toarray().tolist() == [[1.5, 0], [0, 2]]
    np.savez(tmp_path / "b.npz", format=b"bsr", data=fortran, indices=[1, 0], indptr=[0, 1, 2], shape=(4, 4))
    expected = sp.bsr_matrix((fortran, [1, 0], [0, 1, 2]), shape=(4, 4)).toarray()
    np.testing.assert_array_equal(read(tmp_path / "b.npz").counts.toarray(), expected)
    python2 = b"\x93NUMPY\x01\x00\x46\x00" + b"{'descr': '<i8', 'fortran_order': False, 'shape': (2L,), }".ljust(70)
    big = {"data": np.array([3, 4], ">i4"), "indices": np.array([0, 1], ">i8"), "shape": np.array([2, 2], ">i2")}
    assert read(compressed(tmp_path / "d.npz", **big)).counts.toarray().tolist() == [[3, 0], [0, 4]]
    members = {"data": python2 + np.array([3, 4]).tobytes()}
    assert read(compressed(tmp_path / "c.npz", **members)).counts.toarray().tolist() == [[3, 0], [0, 4]]


# ---------------------------------------------------------------- UCI and LDA-C


@pytest.mark.parametrize(
    ("name", "content", "part"),
    [
        (
            "docword.txt",
            b"300000000\n5\n1\n1 1 1\n",
            "declares 300000000 documents in 20 bytes; if that is right, raise",
        ),
        (
            "docword.txt",
            b"2147483647\n1\n1\n1 1 1\n",
            "--max-declared (in Python: limits=ReadLimits(declared_size=2147",
        ),
        ("docword.txt", b"3\n2147483647\n1\n1 1 1\n", "declares 2147483647 words"),
        ("docword.txt", b"3\n3\n999999999999\n1 1 1\n", "holds 1 entries but its header declares 999999999999"),
        ("docword.txt", b"3\n3\n1\n1 1 0x1\n", "line 4 is '1 1 0x1'"),
        ("docword.txt", b"3\n3\n1\n1 1 1\xff\n", "line 4 is"),
        ("docword.txt", b"3\n3\xff\n1\n1 1 1\n", "three lines of one number"),
        ("docword.txt", b"1\n1\n2\n1 1 2147483647\n1 1 2147483647\n", "counts above 2147483647"),
        ("docword.txt.gz", gzip.compress(b"1" * 10**6), "line 1 has more than 65536 bytes"),
        ("a.ldac", b"1 2147483647:1\n", "declares 2147483648 words in 15 bytes"),
        ("a.ldac", b"1 2000000000:1\n", "raise the limit with --max-declared"),
        ("a.ldac", b"99999999999 0:1\n", "declares 99999999999 words but holds 1"),
        ("a.ldac", b"1 0:1\n1 \xff:1\n", r"line 2 holds '\\xff:1'"),
    ],
)
def test_small_files_that_ask_for_much_are_refused(tmp_path, name, content, part):
    assert part in refusal(write(tmp_path / name, content))


def test_sizes_are_believed_as_far_as_the_bytes_or_the_limit_go(tmp_path):
    uci = write(tmp_path / "docword.txt", b"2000000\n3000000\n1\n1 1 1\n")
    ldac = write(tmp_path / "a.ldac", b"1 2999999:1\n")
    market = write(tmp_path / "a.mtx", BANNER + b"2000000 3000000 1\n1 1 1\n")
    believed = ReadLimits(declared_size=3_000_000)
    for limits, allowed in ((ReadLimits(declared_size=2_999_999), False), (believed, True)):
        for call in (
            lambda limits=limits: read_uci(uci, limits),
            lambda limits=limits: read_ldac(ldac, None, limits=limits),
            lambda limits=limits: read_matrix_market(market, limits),
        ):
            if allowed:
                assert call().shape[1] == 3_000_000
            else:
                with pytest.raises(ReadError, match="3000000 words"):
                    call()
    assert read_ldac(ldac, 2**31 - 1).shape == (1, 2**31 - 1), "a vocabulary says how many words there are"
    comment = b"%" * 3_000_000 + b"\n"
    assert read_matrix_market(write(tmp_path / "b.mtx", BANNER + comment + b"2000000 3000000 1\n1 1 1\n")).nnz == 1


def test_vocabulary_says_how_many_words_there_are(tmp_path):
    little = ReadLimits(declared_size=1)
    words = [f"word {i}" for i in range(90)]
    for path in (
        write(tmp_path / "docword.txt", b"1\n90\n1\n1 1 1\n"),
        write(tmp_path / "a.mtx", BANNER + b"1 90 1\n1 1 1\n"),
    ):
        assert "declares 90 words" in refusal(path, limits=little)
        assert read(path, limits=little, vocabulary=words).n_words == 90


def test_packed_counts_are_refused_until_the_limit_is_raised(tmp_path):
    lines = b"1 1 1\n" * 5000
    contents = {
        "docword.txt.gz": b"9\n9\n5000\n" + lines,
        "a.mtx.gz": BANNER + b"9 9 5000\n" + lines,
        "a.ldac.gz": b"1 0:1\n" * 5000,
    }
    for name, content in contents.items():
        path = write(tmp_path / name, gzip.compress(content))
        assert "--max-unpacked-bytes" in refusal(path, limits=ReadLimits(unpacked_bytes=20_000))
        assert read(path, limits=ReadLimits(unpacked_bytes=40_000)).n_tokens == 5000


def test_long_lines_are_refused_until_the_limit_is_raised(tmp_path, monkeypatch):
    from stickbreak.corpus.reading import number_lines

    ldac = write(tmp_path / "a.ldac", b"1 0:" + b"0" * 10 + b"1\n")
    with pytest.raises(ReadError, match=r"line 1 of .*a.ldac is longer than 14 bytes.*--max-document-bytes"):
        read_ldac(ldac, None, limits=ReadLimits(document_bytes=14))
    assert read_ldac(ldac, None, limits=ReadLimits(document_bytes=16)).sum() == 1
    monkeypatch.setattr(number_lines, "_BLOCK_BYTES", 8)
    uci = write(tmp_path / "docword.txt", b"9\n9\n3\n1 1 1\n2 2 2" + b" " * 30 + b"\n3 3 3\n")
    assert read_uci(uci).sum() == 6
    with pytest.raises(ReadError, match=r"line 5 of .* is longer than 20 bytes.*ReadLimits\(document_bytes="):
        read_uci(uci, ReadLimits(document_bytes=20))


def test_blocks_of_any_size_give_the_same_counts_and_places(tmp_path, monkeypatch):
    from stickbreak.corpus.reading import number_lines

    lines = [b"%d %d %d" % (i + 1, i % 7 + 1, i + 1) for i in range(40)]
    path = write(tmp_path / "docword.txt", b"40\n7\n40\n" + b"\n".join(lines))
    whole = read(path).counts
    bad = write(tmp_path / "docword.bad.txt", b"40\n7\n40\n" + b"\n".join([*lines[:30], b"31 8 1", *lines[31:]]))
    for size in (1, 2, 7, 64):
        monkeypatch.setattr(number_lines, "_BLOCK_BYTES", size)
        assert (read(path).counts != whole).nnz == 0
        assert "line 34 names word 8" in refusal(bad)


# ---------------------------------------------------------------- in memory


def changed(format, array, **arrays):
    """Make a sound sparse matrix, then put something else inside."""
    matrix = getattr(sp, f"{format}_{'array' if array else 'matrix'}")(TABLE)
    for name, change in arrays.items():
        value = getattr(matrix, name)
        setattr(matrix, name, change(value.copy()))
    return matrix


def put(at, value):
    def change(array):
        array[at] = value
        return array

    return change


BROKEN = [
    *((f, {"indices": put(1, v)}, "an index is") for f in ("csr", "csc", "bsr") for v in (70000000, -70000000)),
    *((f, {"indptr": put(1, v)}, "indptr must") for f in ("csr", "csc", "bsr") for v in (500000, -5)),
    *((f, {"indptr": put(0, 1)}, "indptr must begin") for f in ("csr", "csc", "bsr")),
    *((f, {"indptr": lambda p: p[:-1]}, "indptr has") for f in ("csr", "csc", "bsr")),
    *((f, {"data": lambda d: d[:-1]}, "values") for f in ("csr", "csc", "bsr", "coo")),
    *((f, {"data": list}, "its values have") for f in ("csr", "csc", "coo")),
    *((f, {"indices": lambda i: i.astype(float)}, "dtype float64") for f in ("csr", "csc", "bsr")),
    ("dia", {"data": lambda d: np.ones((7, 4))}, "offsets for 7 diagonals"),
    ("dia", {"offsets": lambda o: o.astype(float)}, "dtype float64"),
    ("lil", {"rows": put(0, [70000000, 1])}, "a column number is 70000000"),
    ("lil", {"rows": put(0, [-1, 1])}, "a column number is -1"),
    ("lil", {"rows": put(0, ["a", 1])}, "a column number is 'a'"),
    ("lil", {"rows": put(0, [0, 1, 2])}, "more column numbers than values, or fewer"),
    ("lil", {"rows": put(0, None)}, "no list for each of its 4 rows"),
    ("lil", {"data": put(0, ["a", "b"])}, "broken inside"),
    ("lil", {"data": put(0, [10**30, 1])}, "broken inside"),
    *(("dok", {"_dict": put(key, 1)}, part) for key, part in [
        ((9**9, 0), "a row number is 387420489"), ((-1, 0), "a row number is -1"), ((0, 4), "a column number is 4"),
        (("a", 1), "a row number is 'a'"), ((0,), "not a pair"), (5, "not a pair"),
    ]),
    *(("dok", {"_dict": put((0, 0), value)}, "broken inside") for value in ("a", None, 10**30)),
]  # fmt: skip


@pytest.mark.parametrize("array", [False, True])
@pytest.mark.parametrize(("format", "changes", "part"), BROKEN)
def test_sparse_matrices_broken_inside_are_refused(format, changes, part, array):
    if format == "dok" and not hasattr(sp.dok_matrix((1, 1)), "_dict"):
        pytest.skip("this SciPy keeps the entries elsewhere")
    for use in (Corpus.from_counts, CollapsedHDP(n_topics=2, n_laps=1).fit):
        with pytest.raises(InvalidCorpus, match=re.escape(part)):
            use(changed(format, array, **changes))


@pytest.mark.parametrize("array", [False, True])
@pytest.mark.parametrize("value", [90000000, -90000000])
@pytest.mark.parametrize("axis", ["row", "col"])
def test_coordinates_outside_are_refused(axis, value, array):
    for use in (Corpus.from_counts, CollapsedHDP(n_topics=2, n_laps=1).fit):
        matrix = (sp.coo_array if array else sp.coo_matrix)(TABLE)
        getattr(matrix, axis)[0] = value
        with pytest.raises(InvalidCorpus, match=f"number is {value}, outside of 0 to 3; build it again"):
            use(matrix)


@pytest.mark.parametrize(
    "make",
    [
        lambda D: sp.coo_matrix(([1], ([0], [0])), shape=(D, 2)),
        lambda D: sp.csc_matrix(([1], [0], [0, 1]), shape=(D, 1)),
        lambda D: sp.dia_matrix((np.ones((1, 2)), [0]), shape=(D, 2)),
        lambda D: sp.dok_matrix((D, 1)),
    ],
)
def test_rows_that_the_memory_does_not_hold_are_refused(monkeypatch, make):
    monkeypatch.setattr("stickbreak.corpus.validation.memory_installed", lambda: 2.0**34)
    for use in (Corpus.from_counts, CollapsedHDP(n_topics=2, n_laps=1).fit):
        with pytest.raises(InvalidCorpus, match=r"need about 59.6 GiB in rows, more than this machine has"):
            use(make(2 * 10**9))


def test_memory_that_ends_in_a_conversion_is_said(monkeypatch):
    def no_memory(*_, **__):
        raise MemoryError

    monkeypatch.setattr(sp.csc_matrix, "tocsr", no_memory)
    with pytest.raises(InvalidCorpus, match="leave out empty documents"):
        Corpus.from_counts(sp.csc_matrix(TABLE))


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("array", [False, True])
def test_sound_sparse_matrices_of_every_format_are_taken(format, array):
    for dtype in (bool, np.uint8, np.int16, np.int64, np.uint64, np.float32, np.float64):
        matrix = getattr(sp, f"{format}_{'array' if array else 'matrix'}")(TABLE.astype(dtype))
        counts = Corpus.from_counts(matrix).counts
        np.testing.assert_array_equal(counts.toarray(), TABLE.astype(dtype))


def test_what_lies_behind_the_last_row_is_left_out():
    matrix = sp.csr_matrix((np.array([1, 2, 9, 9]), np.array([0, 1, 77, -5]), np.array([0, 1, 2])), shape=(2, 2))
    assert Corpus.from_counts(matrix).counts.toarray().tolist() == [[1, 0], [0, 2]]


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.uint16, np.int32, np.uint64, np.float16, np.float64])
def test_duplicates_add_up_without_wrapping_around(dtype):
    values = np.full(1000, 100).astype(dtype)
    place = np.zeros(1000, np.int32)
    total = int(values.sum(dtype=np.float64))
    rows = sp.csr_matrix((values, place, np.array([0, 1000])), shape=(1, 2))
    assert Corpus.from_counts(rows).n_tokens == total
    if dtype != np.float16:  # SciPy refuses it there itself
        assert Corpus.from_counts(sp.coo_matrix((values, (place, place)), shape=(1, 2))).n_tokens == total


def test_counts_whose_sum_would_wrap_around_are_refused():
    large = np.full(4, 2**62)
    for dtype in (np.int64, np.uint64):
        for matrix in (
            sp.coo_matrix((large.astype(dtype), ([0] * 4, [0] * 4)), shape=(1, 1)),
            sp.csr_matrix((large.astype(dtype), [0] * 4, [0, 4]), shape=(1, 1)),
        ):
            with pytest.raises(InvalidCorpus, match="row 0, column 0 is 4611686018427387904; counts above 2147483647"):
                Corpus.from_counts(matrix)


@pytest.mark.parametrize("counts", [[[10**400]], [[None]], [[1, [2]]]])
def test_tables_of_something_else_than_numbers_are_refused(counts):
    with pytest.raises(InvalidCorpus):
        Corpus.from_counts(counts)
