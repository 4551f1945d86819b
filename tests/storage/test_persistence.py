import errno
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from stickbreak.exceptions import ModelFormatError, WriteError
from stickbreak.storage import persistence
from stickbreak.storage.persistence import FORMAT_VERSION, check_target, read_folder, write_folder

ARRAYS = {
    "float64": np.array([[1.5, np.nan], [np.inf, -0.0]]),
    "float32": np.arange(3, dtype=np.float32),
    "int32": np.arange(-2, 3, dtype=np.int32),
    "int64": np.array([2**62, -(2**62)]),
    "uint8": np.arange(4, dtype=np.uint8),
    "bool": np.array([True, False]),
    "scalar": np.array(2.5),
    "empty": np.zeros((0, 3), dtype=np.int32),
    "fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "strided": np.arange(10)[::3],
}


def saved(tmp_path: Path, **changes) -> Path:
    given = {"kind": "example", "arrays": {"x": np.arange(50.0)}, "meta": {"a": 1}} | changes
    write_folder(tmp_path / "saved", **given)
    return tmp_path / "saved"


def change_head(folder: Path, **changes) -> None:
    head = json.loads((folder / "model.json").read_text())
    (folder / "model.json").write_text(json.dumps(head | changes))


def test_arrays_come_back_with_dtype_shape_and_bits(tmp_path):
    found, _ = read_folder(saved(tmp_path, arrays=ARRAYS), kind="example")
    assert found.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert found[name].dtype == array.dtype, name
        assert found[name].shape == array.shape, name
        assert found[name].tobytes() == np.asarray(array, order="C").tobytes(), name
        assert found[name].flags.writeable, name
        assert found[name].flags.c_contiguous, name


def mostly(common, dtype: str, n: int = 40_000) -> np.ndarray:
    array = np.full((n // 8, 8), common, dtype)
    array.reshape(-1)[::13] = np.arange(-(-n // 13)) % 100 + 1
    return array


@pytest.mark.parametrize(
    "array",
    [
        mostly(0.0, "float64"),
        mostly(0.1, "float32"),
        mostly(np.nan, "float64"),
        mostly(-0.0, "float64"),
        mostly(7, "int16", 400_000),
        mostly(3, ">i4"),
        np.zeros((300, 300)),
        np.arange(100_000) % 11 == 0,
    ],
)
def test_arrays_that_are_mostly_one_number_are_small_and_keep_their_bits(tmp_path, array):
    folder = saved(tmp_path, arrays={"x": array, "y": np.arange(10_000.0)})
    assert (folder / "arrays.safetensors").stat().st_size - 80_000 < array.nbytes / 3
    for mapped in (False, True):
        found, _ = read_folder(folder, mapped=mapped)
        assert found["x"].shape == array.shape
        assert found["x"].dtype == array.dtype.newbyteorder("=")
        assert found["x"].tobytes() == array.astype(found["x"].dtype).tobytes()
        assert found["x"].flags.writeable
        assert found["y"].tolist() == list(range(10_000))


def test_arrays_of_a_checkpoint_can_be_mapped(tmp_path):
    folder = saved(tmp_path, arrays={"x": np.zeros((300, 300))}, sparse=False)
    found, _ = read_folder(folder, mapped=True)
    assert isinstance(found["x"].base, np.memmap)


@pytest.mark.parametrize(
    "changes",
    [{"shape": [300, 301]}, {"shape": [299, 300]}, {"shape": [1 << 30, 1 << 30]}, {"shape": [-300, -300]},
     {"shape": "all"}, {"dtype": "float32"}, {"dtype": "object"}, {"common": -1}, {"common": None}],
)  # fmt: skip
def test_a_sparse_array_that_cannot_be_is_refused(tmp_path, changes):
    array = np.zeros((300, 300))
    array[0] = 1.0
    folder = saved(tmp_path, arrays={"x": array})
    arrays = json.loads((folder / "model.json").read_text())["arrays"]
    change_head(folder, arrays={"x": arrays["x"] | changes})
    with pytest.raises(ModelFormatError, match="save the model again"):
        read_folder(folder)


def test_meta_keeps_nan_and_turns_numpy_scalars_into_pythons(tmp_path):
    meta = {
        "nan": math.nan,
        "n": np.int32(3),
        "x": np.float64(0.5),
        "b": np.bool_(True),
        "t": (1, 2),
        "ß": "\u2028",
    }
    _, found = read_folder(saved(tmp_path, meta=meta))
    assert math.isnan(found.pop("nan"))
    assert found == {"n": 3, "x": 0.5, "b": True, "t": [1, 2], "ß": "\u2028"}
    assert [type(found[k]) for k in "nxb"] == [int, float, bool]


def test_existing_folder_is_kept_unless_overwriting(tmp_path):
    folder = saved(tmp_path)
    with pytest.raises(WriteError, match="already exists"):
        saved(tmp_path, meta={"a": 2})
    assert read_folder(folder)[1] == {"a": 1}
    saved(tmp_path, meta={"a": 2}, overwrite=True)
    assert read_folder(folder)[1] == {"a": 2}
    assert [entry.name for entry in tmp_path.iterdir()] == ["saved"]


def test_what_is_not_ours_is_never_overwritten(tmp_path):
    target = tmp_path / "saved"
    target.mkdir()
    (target / "thesis.tex").write_text("years of work")
    with pytest.raises(WriteError, match="not a saved model"):
        saved(tmp_path, overwrite=True)
    assert (target / "thesis.tex").exists()


def test_foreign_files_beside_a_model_are_not_lost(tmp_path):
    folder = saved(tmp_path)
    (folder / "report.html").write_text("ours")
    saved(tmp_path, overwrite=True)
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(WriteError, match=r"'notes\.txt'.*move that away"):
        saved(tmp_path, overwrite=True)
    assert (folder / "notes.txt").exists()


FAILURES = [
    (persistence, "_blocks", errno.ENOSPC, "the disk is full; free some space"),
    (Path, "write_text", errno.ENOSPC, "the disk is full; free some space"),
    (Path, "write_text", errno.EDQUOT, "the disk quota is used up; free some space"),
    (Path, "mkdir", errno.EACCES, "permission denied; choose a place"),
    (Path, "mkdir", errno.EROFS, "read-only; choose another place"),
    (os, "fsync", errno.ENOSPC, "the disk is full; free some space"),
    (os, "rename", errno.EACCES, "permission denied; choose a place"),
]


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize(
    ("owner", "function", "number", "words"), FAILURES, ids=[f"{f}-{errno.errorcode[n]}" for _, f, n, _ in FAILURES]
)
def test_old_model_stays_when_writing_the_new_one_fails(
    tmp_path, monkeypatch, owner, function, number, words, overwrite
):
    folder = saved(tmp_path) if overwrite else tmp_path / "saved"

    def refuse(*arguments, **options):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(owner, function, refuse)
    with pytest.raises(WriteError, match=words) as caught:
        saved(tmp_path, meta={"a": 2}, overwrite=overwrite)
    monkeypatch.undo()
    assert str(folder) in str(caught.value)
    assert [entry.name for entry in tmp_path.iterdir()] == ["saved"] * overwrite
    assert not overwrite or read_folder(folder)[1] == {"a": 1}


@pytest.mark.skipif(not os.path.exists("/dev/full") or sys.platform == "win32", reason="needs a limit on file sizes")
def test_a_full_disk_leaves_nothing_behind(tmp_path):
    program = (
        "import resource, signal, sys, numpy as np\n"
        "from stickbreak.storage.persistence import write_folder\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "write_folder(sys.argv[1], kind='example', arrays={'x': np.arange(1e5)}, meta={})\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path / "saved")], capture_output=True, text=True)
    assert "stickbreak.exceptions.WriteError: cannot write" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_check_target_says_before_the_work_what_writing_would_say(tmp_path):
    check_target(tmp_path / "free")
    with pytest.raises(WriteError, match="parent folder"):
        check_target(tmp_path / "no" / "saved")
    folder = saved(tmp_path)
    with pytest.raises(WriteError, match="already exists"):
        check_target(folder)
    check_target(folder, overwrite=True)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"version": FORMAT_VERSION + 1}, "update stickbreak"),
        ({"version": "x"}, "format version x"),
        ({"format": "other"}, "not written by stickbreak"),
        ({"arrays": {"y": {"dtype": "float64", "shape": [50]}}}, "does not hold the arrays"),
        ({"arrays": {"x": {"dtype": "float64", "shape": [49]}}}, "does not hold the arrays"),
        ({"arrays": {"x": {"dtype": "int64", "shape": [50]}}}, "does not hold the arrays"),
        *(
            (changes, r"model\.json is damaged.*save the model again$")
            for changes in ({"kind": ["VariationalHDP"]}, {"kind": 5}, {"arrays": []}, {"checksum": "0"}, {"meta": [1]})
        ),
    ],
    ids=str,
)
def test_a_head_that_cannot_be_is_refused(tmp_path, changes, words):
    folder = saved(tmp_path)
    change_head(folder, **changes)
    with pytest.raises(ModelFormatError, match=words):
        read_folder(folder)


@pytest.mark.parametrize("text", ["{", "[]", '{"format": "stickbreak", "version": 1}', ""])
def test_a_broken_head_is_refused(tmp_path, text):
    folder = saved(tmp_path)
    (folder / "model.json").write_text(text)
    with pytest.raises(ModelFormatError, match=r"model\.json"):
        read_folder(folder)


@pytest.mark.parametrize("keep", [0, 4, 30, -8])
def test_truncated_arrays_are_refused(tmp_path, keep):
    file = saved(tmp_path) / "arrays.safetensors"
    file.write_bytes(file.read_bytes()[:keep])
    with pytest.raises(ModelFormatError, match="damaged"):
        read_folder(file.parent)


def test_a_flipped_bit_is_refused(tmp_path):
    file = saved(tmp_path) / "arrays.safetensors"
    content = bytearray(file.read_bytes())
    content[-100] ^= 1
    file.write_bytes(content)
    with pytest.raises(ModelFormatError, match="damaged"):
        read_folder(file.parent)


@pytest.mark.parametrize("moment", ["before the arrays are checked", "before the arrays are read"])
def test_folder_replaced_while_it_is_read_is_read_again(tmp_path, monkeypatch, moment):
    """Never the values of one and the arrays of the other, and no error either."""
    import safetensors.numpy

    folder = saved(tmp_path)
    place, name = (persistence, "_checksum") if "checked" in moment else (safetensors.numpy, "load_file")
    real, calls = getattr(place, name), []

    def overtaken(file):
        if not calls:
            calls.append(file)
            saved(tmp_path, arrays={"x": np.ones(50)}, meta={"a": 2}, overwrite=True)
        return real(file)

    monkeypatch.setattr(place, name, overtaken)
    arrays, meta = read_folder(folder)
    assert (arrays["x"].tolist(), meta) == ([1.0] * 50, {"a": 2})
