"""`read_vectors`: arrays, tables, folders of vectors and images; what is no table of numbers is one sentence."""

import gzip

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from stickbreak.corpus import (
    GroupedVectors,
    PatchShape,
    ReadLimits,
    patch_basis,
    patches_of,
    read_patches,
    read_vectors,
    write_vectors,
)
from stickbreak.corpus.vector_folder import patches_in
from stickbreak.exceptions import InputError, NoDocuments, ReadError

X = np.array([[1.0, -2.5], [3.0, 4.0], [0.5, 6.0]])
CSV = "name;x;y\na;1;-2.5\nb;3;4\na;0.5;6\n"


def table(path, **columns):
    pq.write_table(pa.table(columns), path)
    return path


@pytest.mark.parametrize("dtype", ["float32", "float64", ">f8", "int16", "bool"])
def test_array_is_read_as_it_is(tmp_path, dtype):
    np.save(tmp_path / "v.npy", X.astype(dtype))
    found = read_vectors(tmp_path / "v.npy")
    assert (found.grouped, found.columns, found.patches) == (False, None, None)
    np.testing.assert_array_equal(found.vectors.values, X.astype(dtype))
    assert found.vectors.values.dtype == ("float32" if dtype == "float32" else "float64")


def test_array_of_another_name_is_told_by_its_content(tmp_path):
    np.save(tmp_path / "v.npy", X)
    (tmp_path / "v.npy").rename(tmp_path / "v")
    assert read_vectors(tmp_path / "v").vectors.n_vectors == 3


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.zeros(3), "must be a table"),
        (np.zeros((2, 2, 2)), "must be a table"),
        (np.array([[1.0, np.nan]]), "row 0, column 1 is nan"),
        (np.array([["a"]]), "other data follow"),
        (np.array([[1j]]), "real"),
        (np.array([[None]]), "Python objects"),
    ],
)
def test_array_that_is_no_table_of_numbers_is_a_sentence(tmp_path, array, words):
    np.save(tmp_path / "v.npy", array, allow_pickle=True)
    with pytest.raises(ReadError, match=words) as error:
        read_vectors(tmp_path / "v.npy")
    assert str(tmp_path / "v.npy") in str(error.value)


def test_array_that_is_cut_off_is_a_sentence(tmp_path):
    np.save(tmp_path / "v.npy", X)
    (tmp_path / "v.npy").write_bytes((tmp_path / "v.npy").read_bytes()[:-8])
    with pytest.raises(ReadError, match="is damaged"):
        read_vectors(tmp_path / "v.npy")


@pytest.mark.parametrize("make", ["npy", "parquet", "csv", "bare"])
def test_nothing_is_no_documents(tmp_path, make):
    path = tmp_path / f"v.{make.replace('bare', 'csv')}"
    if make == "npy":
        np.save(path, np.zeros((0, 2)))
    elif make == "parquet":
        table(path, x=pa.array([], pa.float64()))
    else:
        path.write_text("x,y\n" if make == "csv" else "")
    with pytest.raises(NoDocuments, match=r"holds no vectors|is empty"):
        read_vectors(path)


@pytest.mark.parametrize("packed", [False, True])
def test_groups_of_a_table_come_in_the_order_of_their_first_rows(tmp_path, packed):
    path = tmp_path / ("v.csv.gz" if packed else "v.csv")
    path.write_bytes(gzip.compress(CSV.encode()) if packed else CSV.encode())
    found = read_vectors(path, group_field="name")
    assert (found.grouped, found.columns, found.vectors.names) == (True, ("x", "y"), ("a", "b"))
    np.testing.assert_array_equal(found.vectors.values, X[[0, 2, 1]])
    assert found.vectors.offsets.tolist() == [0, 2, 3]


def test_csv_and_parquet_agree(tmp_path):
    (tmp_path / "v.csv").write_text(CSV)
    path = table(tmp_path / "v.parquet", name=["a", "b", "a"], x=X[:, 0], y=X[:, 1])
    for options in ({"group_field": "name"}, {"columns": ["y"]}, {"columns": ["y", "x"], "group_field": "name"}):
        one, other = read_vectors(path, **options), read_vectors(tmp_path / "v.csv", **options)
        np.testing.assert_array_equal(one.vectors.values, other.vectors.values)
        assert (one.columns, one.vectors.names) == (other.columns, other.vectors.names)


def test_first_row_of_numbers_is_no_header(tmp_path):
    (tmp_path / "v.tsv").write_text("1\t-2.5\n3\t4\n0.5\t6\n")
    found = read_vectors(tmp_path / "v.tsv")
    assert found.columns == ("x0", "x1")
    np.testing.assert_array_equal(found.vectors.values, X)


@pytest.mark.parametrize("kind", ["list", "fixed"])
def test_a_column_of_lists_is_a_vector_each(tmp_path, kind):
    lists = pa.array(X.tolist(), pa.list_(pa.float32(), 2 if kind == "fixed" else -1))
    path = table(tmp_path / "v.parquet", embedding=lists, who=["a", "b", "a"])
    found = read_vectors(path, group_field="who")
    assert found.columns == ("embedding_0", "embedding_1")
    np.testing.assert_array_equal(found.vectors.values, X[[0, 2, 1]].astype(np.float32))


@pytest.mark.parametrize(
    ("columns", "options", "words"),
    [
        ({"x": [1.0], "who": ["a"]}, {}, "'who' holds string, not numbers; .*--group-field who"),
        ({"x": [1.0], "who": ["a"], "b": ["c"]}, {"group_field": "who"}, "'b' holds string, not numbers; leave it out"),
        ({"x": [1.0]}, {"group_field": "who"}, "has no column 'who'; the columns are: 'x'"),
        ({"x": [1.0]}, {"columns": ["z"]}, "has no column 'z'"),
        ({"x": [1.0]}, {"group_field": "x"}, "no column except that of the groups"),
        ({"x": [1.0, None]}, {}, "row 1, column 0 is nan"),
        ({"x": [[1.0], [1.0, 2.0]]}, {}, "are not equally long"),
        ({"x": [1.0], "who": [None]}, {"group_field": "who"}, "row 0 has no group"),
    ],
)
def test_columns_that_make_no_vectors_are_a_sentence(tmp_path, columns, options, words):
    with pytest.raises(ReadError, match=words) as error:
        read_vectors(table(tmp_path / "v.parquet", **columns), **options)
    assert "v.parquet" in str(error.value)


def test_a_blank_group_of_a_csv_is_refused(tmp_path):
    (tmp_path / "v.csv").write_text("x,who\n1,a\n2,\n")
    with pytest.raises(InputError, match=r"v\.csv.*row 1 has no group"):
        read_vectors(tmp_path / "v.csv", group_field="who")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x,y\n1,2\n3,1_000\n", "the column 'y' holds '1_000', not numbers"),
        ("x,y\n1,inf\n3,\u0663\n", "the column 'y' holds '\u0663', not numbers"),
        ("x,y\n1,2\n3,four\n", "the column 'y' holds 'four', not numbers"),
        ("x,y\n1,nan\n", "column 1 is nan"),
        ("x,y\n1\n", "has 1 fields but the header names 2"),
        ('x,y\n1,"2\n', "not a valid table row"),
        ("x,x\n1,2\n", "has several columns 'x'"),
    ],
)
def test_field_that_is_no_number_is_named_with_its_line(tmp_path, text, words):
    (tmp_path / "v.csv").write_text(text)
    with pytest.raises(ReadError, match=words):
        read_vectors(tmp_path / "v.csv")


def test_groups_whose_names_are_no_text_are_a_sentence(tmp_path):
    names = pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0"), pa.py_buffer(b"\xfa")])
    with pytest.raises(ReadError, match=r"not a readable Parquet file .column 'who'"):
        read_vectors(table(tmp_path / "v.parquet", x=[1.0], who=names), group_field="who")


def test_limits_hold_for_tables(tmp_path):
    (tmp_path / "v.csv").write_text("x\n" + "1" * 200 + "\n")
    with pytest.raises(ReadError, match="raise the limit with --max-document-bytes"):
        read_vectors(tmp_path / "v.csv", limits=ReadLimits(document_bytes=100))
    path = table(tmp_path / "v.parquet", x=np.zeros(100_000))
    with pytest.raises(ReadError, match="raise the limit with --max-declared"):
        read_vectors(path, limits=ReadLimits(declared_size=10))


def test_folder_of_vectors_keeps_its_groups(tmp_path):
    write_vectors(GroupedVectors.from_values(X, [0, 1, 3], ["p", "q"]), tmp_path / "v")
    found = read_vectors(tmp_path / "v")
    assert (found.grouped, found.vectors.names, found.patches) == (True, ("p", "q"), None)
    with pytest.raises(InputError, match="has no columns, so --group-field 'g' does not apply"):
        read_vectors(tmp_path / "v", group_field="g")


@pytest.fixture
def images(tmp_path):
    from PIL import Image

    folder = tmp_path / "images"
    folder.mkdir()
    for k in range(2):
        pixels = np.random.default_rng(k).integers(0, 255, (12, 10), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"{k}.png")
    return folder


def test_images_are_patches_that_can_be_drawn(images):
    found = read_vectors(images, patch_size=4, n_patches=5)
    assert found.patches == PatchShape(4, projected=True)
    assert found.vectors.values.shape == (10, 15)
    assert found.vectors.names == ("0.png", "1.png")
    assert read_vectors(images / "0.png", n_patches=3).vectors.n_groups == 1


def test_pixels_of_projected_patches_are_those_without_their_mean():
    image = np.random.default_rng(0).random((6, 6))
    projected, plain = (patches_of(image, 4, mean=mean) for mean in ("project", "remove"))
    np.testing.assert_allclose(PatchShape(4, projected=True).pixels(projected).reshape(-1, 16), plain, atol=1e-12)
    np.testing.assert_array_equal(PatchShape(4).pixels(plain).reshape(-1, 16), plain)
    assert patch_basis(4).shape[1] == PatchShape(4, projected=True).dim


@pytest.mark.parametrize("mean", ["project", "remove", "keep"])
def test_folder_of_patches_says_what_they_are(images, tmp_path, mean):
    read_patches(images, size=4, mean=mean, out=tmp_path / "v")
    assert read_vectors(tmp_path / "v").patches == PatchShape(4, mean == "project")
    head = tmp_path / "v" / "vectors.json"
    damaged = head.read_text().replace('"size": 4', '"size": 5')
    assert damaged != head.read_text()
    head.write_text(damaged)
    assert patches_in(tmp_path / "v") is None  # they do not fit the numbers


@pytest.mark.parametrize("plain", [None, [], {}, {"size": 0, "projected": True}, {"size": 4, "projected": 1}])
def test_what_is_no_patch_shape_is_none(plain):
    assert PatchShape.from_plain(plain) is None


def test_squares_are_taken_for_patches():
    assert [PatchShape.of_square(dim) for dim in (1, 4, 8, 9, 63, 64)] == [
        None, None, None, PatchShape(3), None, PatchShape(8),
    ]  # fmt: skip


def test_a_row_of_a_table_can_only_be_completed(tmp_path):
    (tmp_path / "v.csv").write_text("x,y\n1,2\n3\n")
    with pytest.raises(ReadError, match=r"between them; complete the row$"):
        read_vectors(tmp_path / "v.csv")


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("no.npy", {}, "does not exist"),
        ("v.txt", {}, "is not clear from its name or content; give --format NAME .*, one of npy, csv"),
        ("v.txt", {"format": "jsonl"}, "'jsonl' holds no vectors; give --format NAME .*, one of npy, csv"),
        ("v.txt", {"format": "vectors"}, "is a file, not a folder"),
        ("folder", {"format": "npy"}, "is a folder, not a file"),
        ("folder", {}, "there are no images"),
    ],
)
def test_what_holds_no_vectors_is_a_sentence(tmp_path, name, options, words):
    (tmp_path / "v.txt").write_text("a text")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match=words):
        read_vectors(tmp_path / name, **options)
