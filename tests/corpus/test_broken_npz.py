"""Broken and odd .npz files: each is read as it is meant, or refused in one sentence."""

import io
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

from stickbreak.corpus import read
from stickbreak.corpus.reading.limits import ReadLimits
from stickbreak.corpus.reading.npz import read_npz
from stickbreak.exceptions import ReadError

from .broken import TABLE, refusal, write


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
