"""Sparse matrices and tables in memory that are broken inside."""

import re

import numpy as np
import pytest
import scipy.sparse as sp

from stickbreak import TopicModel
from stickbreak.corpus import Corpus
from stickbreak.exceptions import InvalidCorpus

from .broken import FORMATS, TABLE


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
    for use in (Corpus.from_counts, TopicModel(n_topics=2, n_laps=1).fit):
        with pytest.raises(InvalidCorpus, match=re.escape(part)):
            use(changed(format, array, **changes))


@pytest.mark.parametrize("array", [False, True])
@pytest.mark.parametrize("value", [90000000, -90000000])
@pytest.mark.parametrize("axis", ["row", "col"])
def test_coordinates_outside_are_refused(axis, value, array):
    for use in (Corpus.from_counts, TopicModel(n_topics=2, n_laps=1).fit):
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
    for use in (Corpus.from_counts, TopicModel(n_topics=2, n_laps=1).fit):
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
