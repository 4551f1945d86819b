"""Patches of images."""

import numpy as np
import pytest
from PIL import Image

from stickbreak.corpus import patch_basis, patches_of, read_patches
from stickbreak.exceptions import InputError, ReadError


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    (tmp_path / "images" / "more").mkdir(parents=True)
    Image.fromarray(rng.integers(0, 256, (10, 12), np.uint8)).save(tmp_path / "images" / "b.png")
    Image.fromarray(rng.integers(0, 256, (9, 9, 3), np.uint8)).save(tmp_path / "images" / "more" / "a.PNG")
    (tmp_path / "images" / "readme.txt").write_text("not an image")
    return tmp_path / "images"


def grey(file):
    return np.asarray(Image.open(file).convert("L"), np.float64) / 255


def slow_patches(image, size, stride=1):
    height, width = image.shape
    rows, columns = range(0, height - size + 1, stride), range(0, width - size + 1, stride)
    return np.array([image[r : r + size, c : c + size].ravel() for r in rows for c in columns])


def test_all_patches_of_a_folder(folder):
    vectors = read_patches(folder)
    assert vectors.names == ("b.png", "more/a.PNG")
    assert vectors.group_sizes.tolist() == [3 * 5, 2 * 2]
    assert vectors.values.dtype == np.float32
    expected = slow_patches(grey(folder / "b.png"), 8)
    np.testing.assert_allclose(vectors[:1].values, expected - expected.mean(axis=1, keepdims=True), atol=1e-6)


@pytest.mark.parametrize("stride", [1, 2, 4])
def test_size_stride_and_mean(folder, stride):
    expected = slow_patches(grey(folder / "b.png"), 4, stride)
    found = read_patches([folder / "b.png"], size=4, stride=stride, mean="keep", dtype=np.float64)
    np.testing.assert_allclose(found.values, expected, atol=1e-6)
    assert found.names == ("b.png",)
    projected = read_patches(folder / "b.png", size=4, stride=stride, mean="project", dtype=np.float64)
    assert projected.dim == 15
    np.testing.assert_allclose(
        projected.values @ patch_basis(4).T, expected - expected.mean(axis=1, keepdims=True), atol=1e-6
    )


def test_basis_is_orthonormal_and_orthogonal_to_the_constant():
    for size in (2, 3, 8):
        basis = patch_basis(size)
        np.testing.assert_allclose(basis.T @ basis, np.eye(size**2 - 1), atol=1e-12)
        np.testing.assert_allclose(basis.sum(axis=0), 0.0, atol=1e-12)


def test_a_sample_is_without_replacement_and_follows_the_seed(folder):
    everything = {tuple(x) for x in read_patches(folder, size=3)[:1].values}
    chosen = read_patches(folder, size=3, n_patches=20, seed=4)
    rows = [tuple(x) for x in chosen[:1].values]
    assert chosen.group_sizes.tolist() == [20, 20]
    assert len(set(rows)) == 20
    assert set(rows) <= everything
    np.testing.assert_array_equal(chosen.values, read_patches(folder, size=3, n_patches=20, seed=4).values)
    assert (chosen.values != read_patches(folder, size=3, n_patches=20, seed=5).values).any()
    assert read_patches(folder, n_patches=10**6).group_sizes.tolist() == [15, 4], "no more than there are"


@pytest.mark.parametrize("mean", ["remove", "project"])
def test_patches_on_disk_are_the_same(folder, tmp_path, mean):
    there = read_patches(folder, mean=mean, out=tmp_path / "vectors")
    here = read_patches(folder, mean=mean)
    np.testing.assert_array_equal(there.values, here.values)
    assert there.names == here.names
    assert isinstance(there.values.base, np.memmap)


def test_patches_of_an_image_in_memory(folder):
    image = grey(folder / "b.png")
    np.testing.assert_allclose(patches_of(image, 3, mean="keep"), slow_patches(image, 3))
    assert patches_of(image.astype(np.float32), 3, mean="project").dtype == np.float32


def test_blocks_of_patches_join(folder, monkeypatch):
    whole = read_patches(folder).values
    monkeypatch.setattr("stickbreak.corpus.reading.patches._BLOCK", 4)
    np.testing.assert_array_equal(read_patches(folder).values, whole)


def test_bad_images_are_refused(folder, tmp_path):
    with pytest.raises(InputError, match=r"b\.png has 12 x 10 pixels, less than a patch of 11 x 11"):
        read_patches(folder, size=11)
    with pytest.raises(InputError, match="there are no patches with size=0"):
        read_patches(folder, size=0)
    with pytest.raises(InputError, match="n_patches=0"):
        read_patches(folder, n_patches=0)
    with pytest.raises(InputError, match="mean='off'"):
        read_patches(folder, mean="off")
    with pytest.raises(ReadError, match="does not exist"):
        read_patches(folder / "none")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="there are no images"):
        read_patches(tmp_path / "empty")
    (tmp_path / "broken.png").write_text("x")
    with pytest.raises(ReadError, match="is not an image that Pillow can read"):
        read_patches(tmp_path / "broken.png")
    (tmp_path / "cut.png").write_bytes((folder / "b.png").read_bytes()[:80])
    with pytest.raises(ReadError, match="cannot be read"):
        read_patches(tmp_path / "cut.png")


def test_equal_images_are_sampled_at_places_of_their_own(folder, tmp_path):
    files = [tmp_path / "one.png", tmp_path / "two.png"]
    for file in files:
        file.write_bytes((folder / "b.png").read_bytes())
    chosen = read_patches(files, size=3, n_patches=20)
    assert {tuple(x) for x in chosen[0]} != {tuple(x) for x in chosen[1]}


def _saved(tmp_path, numbers, mode):
    image = Image.frombytes(mode, numbers.shape[::-1], numbers.tobytes())
    image.save(tmp_path / "image.tif")
    return tmp_path / "image.tif"


@pytest.mark.parametrize(
    ("dtype", "mode", "largest"), [("<u2", "I;16", 65_535), ("<i4", "I", 65_535), ("<f4", "F", 1), ("u1", "L", 255)]
)
def test_images_of_every_depth_are_from_black_to_white(tmp_path, dtype, mode, largest):
    grey = np.random.default_rng(0).uniform(size=(9, 10))
    grey[0, :2] = 0, 1
    file = _saved(tmp_path, (grey * largest).astype(dtype), mode)
    with Image.open(file) as image:
        assert image.mode == mode
    found = read_patches(file, mean="keep", dtype=np.float64).values
    np.testing.assert_allclose(found, slow_patches(grey, 8), atol=1 / 255)


def test_16_bits_of_either_order_are_read(tmp_path):
    numbers = np.random.default_rng(0).integers(0, 65_536, (8, 8)).astype(np.uint16)
    Image.fromarray(numbers).save(tmp_path / "image.png")
    found = read_patches(tmp_path / "image.png", mean="keep").values
    np.testing.assert_allclose(found, numbers.reshape(1, 64) / 65_535, atol=1e-6)
    (tmp_path / "big.pgm").write_bytes(b"P5 8 8 65535\n" + numbers.astype(">u2").tobytes())
    np.testing.assert_allclose(read_patches(tmp_path / "big.pgm", mean="keep").values, found, atol=1e-6)


@pytest.mark.parametrize(
    ("numbers", "mode", "says"),
    [
        (np.full((8, 8), 1.5, "<f4"), "F", r"\(mode F\) holds numbers outside 0 to 1"),
        (np.full((8, 8), np.nan, "<f4"), "F", r"\(mode F\) holds"),
        (np.full((8, 8), 70_000, "<i4"), "I", r"\(mode I\) holds numbers outside 0 to 65535"),
        (np.full((8, 8), -1, "<i4"), "I", r"\(mode I\) holds"),
        (np.zeros((8, 8, 3), "u1"), "LAB", "is of mode LAB, which cannot become grey"),
    ],
    ids=["above", "nan", "long", "negative", "lab"],
)
def test_images_that_are_not_from_black_to_white_are_refused(tmp_path, numbers, mode, says):
    image = Image.frombytes(mode, (8, 8), numbers.tobytes())
    image.save(tmp_path / "image.tif")
    with pytest.raises(InputError, match=says):
        read_patches(tmp_path / "image.tif")
