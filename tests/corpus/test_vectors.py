"""Groups of vectors: from arrays and tables, slices, halves, the folder, and what is refused."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stickbreak
from stickbreak.corpus import GroupedVectors, open_vectors, planted_gaussians, write_vectors
from stickbreak.exceptions import InputError, ReadError, WriteError


def some(sizes=(2, 0, 3, 1), dim=3, dtype=np.float64, names=None):
    values = np.arange(sum(sizes) * dim, dtype=dtype).reshape(-1, dim)
    return GroupedVectors.from_values(values, np.concatenate(([0], np.cumsum(sizes))), names)


def groups(vectors):
    return [vectors.values[a:b].tolist() for a, b in zip(vectors.offsets[:-1], vectors.offsets[1:], strict=True)]


def test_values_are_shared_and_described():
    values = np.ones((6, 2), np.float32)
    vectors = GroupedVectors.from_values(values, [0, 2, 6], ["a", "b"])
    assert np.shares_memory(vectors.values, values)
    assert (vectors.n_groups, len(vectors), vectors.n_vectors, vectors.dim) == (2, 2, 6, 2)
    assert vectors.group_sizes.tolist() == [2, 4]
    assert repr(vectors) == "GroupedVectors(2 groups, 6 vectors of 2 float32)"
    assert vectors.group_names == ("a", "b")
    assert GroupedVectors.from_values(values).offsets.tolist() == [0, 6]
    assert GroupedVectors.from_values([[1, 2]]).values.dtype == np.float64
    assert stickbreak.GroupedVectors is GroupedVectors


def test_arrays_make_groups_and_some_may_be_empty():
    vectors = GroupedVectors.from_arrays([np.ones((2, 3)), [], np.zeros((1, 3))], names=["x", "y", "z"])
    assert vectors.offsets.tolist() == [0, 2, 2, 3]
    assert vectors.offsets.dtype == np.int64
    single = GroupedVectors.from_arrays([np.ones((2, 3), np.float32), np.ones((1, 3), np.float32), []])
    assert single.values.dtype == np.float32


TABLE = {"x": [1.0, 2.0, 3.0, 4.0], "image": ["b", "a", "b", "a"], "y": [5, 6, 7, 8]}


@pytest.mark.parametrize("make", [pd.DataFrame, pa.table])
def test_tables_make_groups_by_a_column(make):
    vectors = GroupedVectors.from_table(make(TABLE), "image")
    assert vectors.names == ("b", "a")
    assert groups(vectors) == [[[1, 5], [3, 7]], [[2, 6], [4, 8]]]
    assert groups(GroupedVectors.from_table(make(TABLE), "image", ["y"])) == [[[5], [7]], [[6], [8]]]
    single = make({"g": [1, 1], "x": np.ones(2, np.float32)})
    assert GroupedVectors.from_table(single, "g").values.dtype == np.float32


@pytest.mark.parametrize("make", [pd.DataFrame, pa.table])
@pytest.mark.parametrize(
    ("table", "arguments", "says"),
    [
        (TABLE, ("picture",), "the table has no column 'picture'; it has x, image, y"),
        (TABLE, ("image", ["z"]), "no column 'z'"),
        ({"image": [1]}, ("image",), "no column except that of the groups"),
        ({"g": ["a", None], "x": [1.0, 2.0]}, ("g",), "row 1 has no group"),
        ({"g": ["a", " "], "x": [1.0, 2.0]}, ("g",), "row 1 has no group"),
        ({"g": [1, 2], "x": ["one", "two"]}, ("g",), "column 'x' does not hold numbers"),
        ({"g": [1, 2, 1], "x": [1.0, np.nan, 2.0]}, ("g",), "row 1, column 'x' is nan"),
    ],
)
def test_bad_tables_are_refused(make, table, arguments, says):
    with pytest.raises(InputError, match=says):
        GroupedVectors.from_table(make(table), *arguments)


def test_tables_of_pandas_have_names_that_are_no_text():
    frame = pd.DataFrame([[0, 1.0, 5.0], [7, 2.0, 6.0], [0, 3.0, 7.0]])  # columns 0, 1, 2
    vectors = GroupedVectors.from_table(frame, 0)
    assert vectors.names == ("0", "7")
    assert groups(vectors) == [[[1, 5], [3, 7]], [[2, 6]]]
    assert groups(GroupedVectors.from_table(frame, 0, [2])) == [[[5], [7]], [[6]]]
    with pytest.raises(InputError, match="no column 'x'; it has 0, 1, 2"):
        GroupedVectors.from_table(frame, "x")
    with pytest.raises(InputError, match="several columns 'x'"):
        GroupedVectors.from_table(pd.DataFrame([[1, 2, 3]], columns=["g", "x", "x"]), "g")


@pytest.mark.parametrize("labels", [["a", pd.NA], pd.array([1, None], dtype="Int64"), [pd.Timestamp(0), pd.NaT]])
def test_missing_groups_of_pandas_are_refused(labels):
    with pytest.raises(InputError, match="row 1 has no group"):
        GroupedVectors.from_table(pd.DataFrame({"g": labels, "x": [1.0, 2.0]}), "g")


def test_groups_of_the_same_name_and_other_tables_are_refused():
    mixed = pd.DataFrame({"g": pd.Series([1, "1"], dtype=object), "x": [1.0, 2.0]})
    with pytest.raises(InputError, match="groups 1 and '1' have the same name"):
        GroupedVectors.from_table(mixed, "g")
    with pytest.raises(InputError, match=r"is a dict; give a pandas\.DataFrame"):
        GroupedVectors.from_table(TABLE, "image")


def test_one_integer_takes_the_vectors_of_a_group():
    vectors = some()
    assert vectors[2].tolist() == vectors[-2].tolist() == groups(vectors)[2]
    assert vectors[np.int64(1)].shape == (0, 3)
    assert np.shares_memory(vectors[0], vectors.values)
    assert [x.tolist() for x in vectors] == groups(vectors)
    with pytest.raises(InputError, match="there is no group 4; there are 4"):
        vectors[4]


def test_all_groups_may_be_empty_where_the_dimension_is_known():
    vectors = GroupedVectors.from_arrays([[], np.zeros((0, 3))], ["a", "b"], dim=3)
    assert (vectors.n_groups, vectors.n_vectors, vectors.dim, vectors.names) == (2, 0, 3, ("a", "b"))


@pytest.mark.parametrize(
    ("selection", "rows"),
    [
        (slice(1, 3), [1, 2]),
        (slice(None, None, 2), [0, 2]),
        ([3, 0, 3], [3, 0, 3]),
        ([-1], [3]),
        (np.array([True, False, True, False]), [0, 2]),
        ([], []),
        (slice(3, 1), []),
    ],
)
def test_groups_are_selected(selection, rows):
    vectors = some(names=["a", "b", "c", "d"])
    chosen = vectors[selection]
    assert groups(chosen) == [groups(vectors)[row] for row in rows]
    assert chosen.names == tuple("abcd"[row] for row in rows)
    assert some()[selection].names is None


def test_a_slice_shares_memory():
    vectors = some()
    assert np.shares_memory(vectors[1:3].values, vectors.values)


@pytest.mark.parametrize(
    ("selection", "says"),
    [
        ([4], "there is no group 4; there are 4"),
        ([-5], "there is no group -5"),
        ([0.5], "groups are selected by"),
        ([True], "cannot select from 4 groups"),
    ],
)
def test_bad_selections_are_refused(selection, says):
    with pytest.raises(InputError, match=says):
        some()[selection]


@given(sizes=st.lists(st.integers(0, 9), min_size=1, max_size=8), seed=st.integers(-5, 10**12))
@settings(max_examples=40, deadline=None)
def test_halves_partition_every_group(sizes, seed):
    if not sum(sizes):
        sizes = [*sizes, 1]
    vectors = some(sizes)
    first, second = vectors.halves(seed=seed)
    assert first.group_sizes.tolist() == [(n + 1) // 2 for n in sizes]
    for whole, a, b in zip(groups(vectors), groups(first), groups(second), strict=True):
        assert sorted(a + b) == whole
        assert a == sorted(a)
        assert b == sorted(b)
    again, _ = vectors.halves(seed=seed)
    np.testing.assert_array_equal(first.values, again.values)


def test_halves_are_random_and_follow_the_seed():
    vectors = some([200, 200], dim=1)
    first, _ = vectors.halves(seed=0)
    other, _ = vectors.halves(seed=1)
    chosen = [set(first.values[:100, 0]), {x - 200 for x in first.values[100:, 0]}]
    assert 30 < len(chosen[0] & chosen[1]) < 70, "two groups of equal size are not split alike"
    assert 30 < len(chosen[0] & set(other.values[:100, 0])) < 70
    half, _ = vectors[:1].halves(seed=0)
    np.testing.assert_array_equal(half.values, first.values[:100])


def test_split_holds_out_groups():
    train, held = some().split(0.25, seed=3)
    assert (len(train), len(held)) == (3, 1)
    assert sorted(train.values[:, 0].tolist() + held.values[:, 0].tolist()) == some().values[:, 0].tolist()
    with pytest.raises(InputError, match="cannot hold out 4 of 4 groups"):
        some().split(4)


@pytest.mark.parametrize(
    ("values", "offsets", "says"),
    [
        (np.zeros(3), None, r"a table \(N, dim\) with at least one of each, not of shape \(3,\)"),
        (np.zeros((2, 2), complex), None, "must be .* of real numbers, not complex128"),
        (np.zeros((2, 2), "datetime64[s]"), None, "X must hold vectors, but X holds dates"),
        (np.zeros((0, 2)), None, r"not of shape \(0, 2\)"),
        (np.zeros((2, 0)), None, r"not of shape \(2, 0\)"),
        ([["a"]], None, "X holds lists of words; give an array of numbers"),
        ([[0.0, 1.0], [2.0, np.nan]], None, "row 1, column 1 is nan; vectors must be finite"),
        ([[-np.inf, 1.0]], None, "row 0, column 0 is -inf"),
        (np.zeros((3, 1)), [0, 2], "offsets go from 0 to 2, but there are 3 vectors"),
        (np.zeros((3, 1)), [1, 3], "offsets go from 1 to 3"),
        (np.zeros((3, 1)), [0, 2, 1, 3], "offsets decrease from 2 to 1 at group 1"),
        (np.zeros((3, 1)), [0.0, 3.0], "offsets have dtype float64"),
        (np.zeros((3, 1)), [0], "give G \\+ 1 whole numbers"),
    ],
)
def test_bad_values_and_offsets_are_refused(values, offsets, says):
    with pytest.raises(InputError, match=says):
        GroupedVectors.from_values(values, offsets)


@pytest.mark.parametrize(
    ("arrays", "says"),
    [
        ([], "there are no groups"),
        ([[], np.zeros((0, 3))], "all groups are empty"),
        ([np.zeros((2, 3)), np.zeros((2, 2))], r"group 1 is of shape \(2, 2\); give a table of 3 columns"),
        ([np.zeros(3)], r"group 0 is of shape \(3,\)"),
        ([np.eye(2), [[1.0], [1.0, 2.0]]], "group 1 is not a table of numbers"),
    ],
)
def test_bad_arrays_are_refused(arrays, says):
    with pytest.raises(InputError, match=says):
        GroupedVectors.from_arrays(arrays)


def test_names_must_fit():
    with pytest.raises(InputError, match="there are 1 group names for 4 groups"):
        some(names=["a"])


def test_the_whole_of_a_long_array_is_checked(monkeypatch):
    monkeypatch.setattr("stickbreak.corpus.vectors._BLOCK", 4)
    values = np.zeros((9, 2))
    values[8, 1] = np.inf
    with pytest.raises(InputError, match="row 8, column 1 is inf"):
        GroupedVectors.from_values(values)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("names", [None, ["a", "ä", "\n", ""]])
def test_the_folder_gives_back_what_was_written(tmp_path, dtype, names, monkeypatch):
    monkeypatch.setattr("stickbreak.corpus.vector_folder._BLOCK", 6)  # three blocks
    vectors = some(dtype=dtype, names=names)
    write_vectors(vectors, tmp_path / "vectors")
    found = open_vectors(tmp_path / "vectors")
    np.testing.assert_array_equal(found.values, vectors.values)
    np.testing.assert_array_equal(found.offsets, vectors.offsets)
    assert found.values.dtype == dtype
    assert found.names == vectors.names
    assert isinstance(found.values.base, np.memmap), "memory-mapped, not read"
    assert isinstance(found[1:].values.base.base, np.memmap), "a slice stays on disk"
    with pytest.raises(ValueError, match="read-only"):
        found.values[0, 0] = 1.0


def test_a_folder_is_replaced_only_if_asked_and_only_if_it_is_one(tmp_path):
    target = tmp_path / "vectors"
    write_vectors(some(), target)
    with pytest.raises(WriteError, match="already exists"):
        write_vectors(some(), target)
    write_vectors(some([1]), target, overwrite=True)
    assert open_vectors(target).n_vectors == 1
    (tmp_path / "other").mkdir()
    with pytest.raises(WriteError, match="not a folder of vectors"):
        write_vectors(some(), tmp_path / "other", overwrite=True)


def test_no_vectors_are_not_written(tmp_path):
    for none in (some()[[1]], some()[:0]):
        with pytest.raises(InputError, match="no vectors to write"):
            write_vectors(none, tmp_path / "none")
    assert not (tmp_path / "none").exists()


def _other_dtype(folder):
    np.save(folder / "values.npy", np.zeros((6, 3), np.float16))


def _nan(folder):
    np.save(folder / "values.npy", np.full((6, 3), np.nan))


def _newer(folder):
    meta = json.loads((folder / "vectors.json").read_text())
    (folder / "vectors.json").write_text(json.dumps({**meta, "version": 99}))


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (_other_dtype, "do not match vectors.json"),
        (_nan, "row 0, column 0 is nan"),
        (_newer, "version 99"),
        (lambda folder: (folder / "vectors.json").unlink(), "not a vectors folder"),
        (lambda folder: (folder / "vectors.json").write_text("{"), "is damaged"),
        (lambda folder: (folder / "offsets.npy").unlink(), "does not exist"),
        (lambda folder: (folder / "offsets.npy").write_bytes(b"x"), "is damaged"),
        (lambda folder: np.save(folder / "offsets.npy", np.array([0, 3, 2, 5, 6])), "offsets decrease"),
        (lambda folder: (folder / "names.jsonl").write_text('"a"\n'), "1 lines instead of 4"),
    ],
)
def test_damaged_folders_are_refused(tmp_path, damage, says):
    target = tmp_path / "vectors"
    write_vectors(some(names=list("abcd")), target)
    damage(target)
    with pytest.raises(ReadError, match=says):
        open_vectors(target)


def test_planted_gaussians_are_what_they_say():
    vectors, truth = planted_gaussians(40, 500, dim=3, n_components=3, alpha=3.0, seed=1)
    assert vectors.n_groups == 40
    assert truth.n_components == 3
    for k in range(3):
        drawn = vectors.values[truth.labels == k]
        np.testing.assert_allclose(drawn.mean(axis=0), truth.means[k], atol=0.15)
        np.testing.assert_allclose(np.cov(drawn.T), truth.covariances[k], atol=0.25)
        assert truth.weights[k] == pytest.approx(len(drawn) / 20_000)
    apart = [np.linalg.norm(truth.means[a] - truth.means[b]) for a in range(3) for b in range(a)]
    assert min(apart) >= 6.0
    share = np.bincount(truth.labels[:500], minlength=3) / 500
    np.testing.assert_allclose(share, truth.group_weights[0], atol=0.1)
    again, _ = planted_gaussians(40, 500, dim=3, n_components=3, alpha=3.0, seed=1)
    np.testing.assert_array_equal(again.values, vectors.values)
    centred, zero = planted_gaussians(2, 5, zero_mean=True, dtype=np.float32)
    assert not zero.means.any()
    assert centred.values.dtype == np.float32
    with pytest.raises(InputError, match="planted_gaussians cannot draw n_groups=0"):
        planted_gaussians(0)
