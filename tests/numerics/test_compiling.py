"""The cache of compiled kernels may be missing, read-only, damaged, stale or planted: every kernel still runs."""

import importlib.util
import logging
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numba
import pytest

import stickbreak
from stickbreak.numerics import compiling
from stickbreak.numerics.compiling import Tally

CALLEE = """
from stickbreak.numerics.compiling import njit

FACTOR = 2

@njit(cache=True, error_model="numpy")
def twice(x):
    return x * FACTOR
"""
CALLER = """
from stickbreak.numerics.compiling import njit
from stickbreak_callee import FACTOR, twice

@njit(cache=True, nogil=True)
def shifted(x):
    return twice(x) + FACTOR
"""


class House:
    """Two modules of kernels in a folder of their own, as a new process would import them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "modules"
        self.folder.mkdir()
        self.write("callee", CALLEE)
        self.write("caller", CALLER)

    def write(self, name: str, source: str) -> None:
        (self.folder / f"stickbreak_{name}.py").write_text(source)

    def enter(self) -> ModuleType:
        """Import both anew; the counts begin at 0."""
        compiling.TALLY = Tally()
        compiling._stamp.cache_clear()
        compiling._told.clear()
        for name in ("stickbreak_callee", "stickbreak_caller"):
            spec = importlib.util.spec_from_file_location(name, self.folder / f"{name}.py")
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            sys.modules[name] = module
            spec.loader.exec_module(module)
        return module

    @property
    def entries(self) -> list[Path]:
        return sorted((self.folder / "__pycache__").glob("*.nbc"))


@pytest.fixture
def house(tmp_path, monkeypatch):
    monkeypatch.setattr(compiling, "TALLY", Tally())
    monkeypatch.setattr(compiling, "_PACKAGE", "stickbreak_callee")  # what the caller's kernels come from
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "no_folder" / "home"))
    (tmp_path / "no_folder").write_text("")  # a home in which nothing can be written, for root too
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # two sources of one size and second are one to it
    yield House(tmp_path)
    for name in ("stickbreak_callee", "stickbreak_caller"):
        sys.modules.pop(name, None)
    compiling._stamp.cache_clear()


def block(house: House) -> None:
    """Let nothing be written beside the sources, by root either."""
    shutil.rmtree(house.folder / "__pycache__", ignore_errors=True)
    (house.folder / "__pycache__").write_text("")


def private(house: House) -> Path:
    return house.folder.parent / "tmp" / f"stickbreak-kernels-{os.getuid()}"


def test_second_process_compiles_nothing(house):
    assert house.enter().shifted(3.0) == 8.0
    assert compiling.TALLY.compiled == 2
    assert len(house.entries) == 2
    assert house.enter().shifted(3.0) == 8.0
    assert (compiling.TALLY.compiled, compiling.TALLY.loaded) == (0, 1)


def test_types_have_entries_of_their_own(house):
    kernel = house.enter().shifted
    assert [kernel(3.0), kernel(3)] == [8.0, 8]
    assert len(house.entries) == 4
    kernel = house.enter().shifted
    assert isinstance(kernel(3), int)
    assert isinstance(kernel(3.0), float)


def test_kernel_follows_a_changed_callee(house):
    """Numba's own cache asks the caller's file alone and goes on with the old callee, after an update for example."""
    house.enter().shifted(3.0)
    house.write("callee", CALLEE.replace("x * FACTOR", "x * x * FACTOR"))
    assert house.enter().shifted(3.0) == 20.0
    house.write("callee", CALLEE)
    assert house.enter().shifted(3.0) == 8.0


def test_kernel_follows_a_changed_constant_of_another_module(house, monkeypatch):
    monkeypatch.setattr(compiling, "_PACKAGE", "no package")  # so that the source of the callee is not asked
    house.write("caller", CALLER.replace("twice(x)", "x"))
    assert house.enter().shifted(3.0) == 5.0
    house.write("callee", CALLEE.replace("FACTOR = 2", "FACTOR = 7"))
    assert house.enter().shifted(3.0) == 10.0


def damage_truncated(content: bytes) -> bytes:
    return content[: len(content) // 2]


def damage_empty(content: bytes) -> bytes:
    return b""


def damage_one_bit(content: bytes) -> bytes:
    """In the machine code: nothing but the checksum would notice."""
    at = len(content) // 2
    return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]


def damage_pickle(content: bytes) -> bytes:
    return b"x" * 32 + b"cos\nsystem\n(S'exit 1'\ntR."


@pytest.mark.parametrize("damage", [damage_truncated, damage_empty, damage_one_bit, damage_pickle])
def test_damaged_entry_is_compiled_and_written_anew(house, damage):
    house.enter().shifted(3.0)
    entries = house.entries
    for entry in entries:
        entry.write_bytes(damage(entry.read_bytes()))
    assert house.enter().shifted(3.0) == 8.0
    assert compiling.TALLY.compiled == 2
    assert house.entries == entries
    caller = house.enter()
    assert (caller.shifted(3.0), caller.twice(3.0)) == (8.0, 6.0)
    assert (compiling.TALLY.compiled, compiling.TALLY.loaded) == (0, 2)


def test_entry_of_another_kernel_is_not_believed(house):
    house.enter().shifted(3.0)
    one, other = house.entries
    shutil.copy(one, other)
    assert house.enter().shifted(3.0) == 8.0


def test_entry_that_cannot_be_rebuilt_is_compiled(house, monkeypatch, caplog):
    house.enter().shifted(3.0)

    def broken(*arguments: object) -> None:
        raise KeyError("a part that another Numba wrote")

    monkeypatch.setattr(compiling.CompileResult, "_rebuild", broken)
    assert house.enter().shifted(3.0) == 8.0
    assert [record.levelno for record in caplog.records] == [logging.WARNING]


def test_without_a_writable_place_a_private_temporary_folder_serves(house, caplog):
    block(house)
    caplog.set_level(logging.INFO, "stickbreak")
    assert house.enter().shifted(3.0) == 8.0
    folder = private(house)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert (compiling.TALLY.kept, compiling.TALLY.folders) == (2, {folder})
    assert compiling.TALLY.temporary
    [record] = caplog.records
    assert record.name == "stickbreak"
    assert record.levelno == logging.INFO
    assert str(folder) in record.getMessage()
    assert "NUMBA_CACHE_DIR" in record.getMessage()
    house.enter().shifted(3.0)
    assert compiling.TALLY.compiled == 0


def plant_open_folder(folder: Path) -> None:
    folder.chmod(0o777)


def plant_link(folder: Path) -> None:
    folder.rename(folder.with_name("elsewhere"))
    folder.symlink_to(folder.with_name("elsewhere"))


def plant_file(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.write_text("")


@pytest.mark.parametrize("plant", [plant_open_folder, plant_link, plant_file])
def test_temporary_folder_that_others_may_write_is_neither_read_nor_written(house, plant, caplog):
    block(house)
    house.enter().shifted(3.0)
    plant(private(house))
    before = sorted(house.folder.parent.rglob("*.nbc"))
    caplog.clear()
    assert house.enter().shifted(3.0) == 8.0
    assert (compiling.TALLY.compiled, compiling.TALLY.loaded) == (2, 0)
    assert sorted(house.folder.parent.rglob("*.nbc")) == before
    [record] = caplog.records  # one line, not one for each kernel
    assert record.levelno == logging.WARNING
    assert "every process" in record.getMessage()


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can give a folder away")
def test_temporary_folder_of_another_user_is_not_read(house):
    block(house)
    house.enter().shifted(3.0)
    os.chown(private(house), 65534, 65534)
    house.enter().shifted(3.0)
    assert (compiling.TALLY.compiled, compiling.TALLY.loaded) == (2, 0)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can give a file away")
def test_temporary_file_of_another_user_is_not_read(house):
    block(house)
    house.enter().shifted(3.0)
    for entry in private(house).iterdir():
        os.chown(entry, 65534, 65534)
    house.enter().shifted(3.0)
    assert (compiling.TALLY.compiled, compiling.TALLY.loaded) == (2, 0)


def test_full_disk_stops_no_kernel(house, monkeypatch):
    def full(source: object, target: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert house.enter().shifted(3.0) == 8.0
    assert [path.name for path in house.folder.parent.rglob("*.tmp")] == []


def test_folder_that_goes_away_in_a_run_is_made_again(house):
    kernel = house.enter().shifted
    kernel(3.0)
    shutil.rmtree(house.folder / "__pycache__")
    assert kernel(3) == 8
    assert house.entries


def test_folder_of_the_user_is_respected(house, monkeypatch, tmp_path):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "given"))
    house.enter().shifted(3.0)
    assert house.entries == []
    assert len(list((tmp_path / "given").rglob("*.nbc"))) == 2


def test_folder_of_the_user_that_cannot_be_written_stops_no_kernel(house, monkeypatch, tmp_path):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "no_folder" / "given"))
    assert house.enter().shifted(3.0) == 8.0
    assert (compiling.TALLY.kept, compiling.TALLY.folders) == (2, {private(house)})


def test_warm_folder_that_may_only_be_read_serves(house, monkeypatch):
    house.enter().shifted(3.0)

    def refuse(place: object, name: str, content: bytes) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(compiling._Place, "write", refuse)
    assert house.enter().shifted(3.0) == 8.0
    assert (compiling.TALLY.compiled, compiling.TALLY.loaded) == (0, 1)


def test_working_folder_is_not_taken_for_temporary_files(house, monkeypatch, tmp_path):
    """Python takes the working folder where no folder for temporary files can be written."""
    block(house)
    monkeypatch.chdir(tmp_path / "tmp")
    assert house.enter().shifted(3.0) == 8.0
    assert list((tmp_path / "tmp").iterdir()) == []


def test_places_are_frozen_and_private_only_in_temporary_folders(tmp_path):
    *shared, last = compiling._places(tmp_path)
    assert last.private
    assert not any(place.private for place in shared)
    assert replace(last, private=False) != last


READ_ONLY = """
import logging
logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s")
from stickbreak.numerics.special import digamma
print(round(digamma(1.0), 10))
"""


def run_installed(package: Path, home: str, temporary: Path, **more: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("XDG_CACHE_HOME", "NUMBA_CACHE_DIR")}
    paths = {"PYTHONPATH": str(package), "HOME": home, "TMPDIR": str(temporary)}
    return subprocess.run(
        [sys.executable, "-c", READ_ONLY], env=kept | paths | more, capture_output=True, text=True, check=False
    )


@pytest.fixture
def installed(tmp_path):
    """A copy of the package beside which nothing can be cached, by root either: every __pycache__ is a file."""
    package = tmp_path / "site"
    shutil.copytree(
        Path(stickbreak.__file__).parent, package / "stickbreak", ignore=shutil.ignore_patterns("__pycache__")
    )
    for folder in [package / "stickbreak", *(package / "stickbreak").glob("*/")]:
        if folder.is_dir():
            (folder / "__pycache__").write_text("")
    return package


def test_read_only_installation_without_a_home_runs(installed, tmp_path):
    (tmp_path / "tmp").mkdir()
    first = run_installed(installed, os.devnull, tmp_path / "tmp")
    assert first.returncode == 0, first.stderr
    assert first.stdout == "-0.5772156649\n"
    [line] = first.stderr.splitlines()
    assert line.startswith("stickbreak: compiled kernels are kept in")
    again = run_installed(installed, os.devnull, tmp_path / "tmp")
    assert (again.returncode, again.stderr) == (0, "")


def test_without_numba_kernels_are_plain_functions(installed, tmp_path):
    done = run_installed(installed, os.devnull, tmp_path, NUMBA_DISABLE_JIT="1")
    assert (done.returncode, done.stdout, done.stderr) == (0, "-0.5772156649\n", "")


FIRST = """
topic, n_dk = np.zeros(3, np.int32), np.ones(3)
document_statistics(np.arange(4), topic, n_dk, np.full(3, 0.2), np.ones(3), np.zeros(3), np.zeros(3))
"""
KERNEL = """
tau, words = np.random.default_rng(0).gamma(0.3, 9.0, (2000, 30)) + 0.001, np.arange(2000, dtype=np.int32)
out = np.empty((2000, 30))
expected_word_weights(tau, tau.sum(axis=0), words, out)
print(hashlib.sha256(out.tobytes()).hexdigest())
"""


def test_bits_do_not_depend_on_what_was_compiled_first(fresh_python, monkeypatch, tmp_path):
    """A kernel that does not say how its sums may be ordered takes that from the kernel that calls it first."""
    printed = []
    for place, first in {"alone": "", "after another that calls the same": FIRST}.items():
        monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / place))
        code = (
            "import hashlib\nimport numpy as np\n"
            "from stickbreak.likelihoods.kernels.word_weights import expected_word_weights\n"
            f"from stickbreak.variational.kernels.statistics import document_statistics\n{first}\n{KERNEL}"
        )
        printed.append(fresh_python(code).stdout)
    assert printed[0] == printed[1]
