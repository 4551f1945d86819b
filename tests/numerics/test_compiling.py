"""The cache of compiled kernels may be missing, read-only or full: every kernel still runs."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import stickbreak

CALLEE = """
from stickbreak.numerics.compiling import njit

FACTOR = 2

@njit(cache=True, error_model="numpy")
def twice(x):
    return x * FACTOR
"""
CALLER = """
from stickbreak.numerics.compiling import njit
from house.kernels.callee import twice

@njit(cache=True, nogil=True)
def shifted(x):
    return twice(x) + 2
"""
RUN = """
import logging, sys
logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s")
if len(sys.argv) > 1:
    import resource, signal
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
from house.kernels.caller import shifted
from stickbreak.numerics.compiling import counts
print(shifted(3.0), *counts())
"""
unix = pytest.mark.skipif(sys.platform == "win32", reason="limits and folders as Unix has them")


class House:
    """A package of kernels, which is run in new processes."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.cache = folder, folder / "cache"
        (folder / "house" / "kernels").mkdir(parents=True)
        self.write("callee", CALLEE)
        self.write("caller", CALLER)

    def write(self, name: str, source: str) -> None:
        (self.folder / "house" / "kernels" / f"{name}.py").write_text(source)

    def start(self, *given: str, **more: str) -> subprocess.Popen[str]:
        paths = os.pathsep.join([str(self.folder), str(Path(stickbreak.__file__).parents[1])])
        settings = os.environ | {"PYTHONPATH": paths, "NUMBA_CACHE_DIR": str(self.cache)} | more
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen([sys.executable, "-c", RUN, *given], env=settings, text=True, **pipes)

    def run(self, *given: str, **more: str) -> tuple[list[str], str]:
        """Return what is printed, a result and the numbers of kernels compiled and loaded, and what is logged."""
        child = self.start(*given, **more)
        printed, logged = child.communicate()
        assert child.returncode == 0, logged
        return printed.split(), logged


@pytest.fixture
def house(tmp_path):
    return House(tmp_path)


def test_second_process_compiles_nothing(house):
    assert house.run() == (["8.0", "2", "0"], "")
    assert house.run() == (["8.0", "0", "1"], "")
    assert len(list(house.cache.rglob("*.nbc"))) == 2


def test_kernel_follows_a_changed_callee(house):
    """Numba asks the caller's file alone, and would go on with the old callee."""
    house.run()
    house.write("callee", CALLEE.replace("x * FACTOR", "x * x * FACTOR"))
    assert house.run()[0][0] == "20.0"


def test_many_processes_may_compile_the_same_kernels(house):
    children = [house.start() for _ in range(4)]
    results = [child.communicate() for child in children]
    assert [child.returncode for child in children] == [0] * 4, results
    assert {printed.split()[0] for printed, _ in results} == {"8.0"}
    assert house.run()[0] == ["8.0", "0", "1"]


@unix
def test_folder_that_cannot_be_written_stops_no_kernel(house):
    house.cache.write_text("")  # a file in its place, which stops root, too
    printed, logged = house.run()
    assert printed == ["8.0", "2", "0"]
    assert logged.startswith(f"stickbreak: compiled kernels cannot be kept in {house.cache}, so every process compiles")
    assert len(logged.splitlines()) == 1


@unix
def test_full_disk_stops_no_kernel(house):
    printed, logged = house.run("full")  # 1,000 bytes: the index of a kernel can be kept, its code cannot
    assert printed == ["8.0", "2", "0"]
    assert logged.count("cannot be kept") == 1
    assert list(house.cache.rglob("*.nbc")) == []
    assert house.run() == (["8.0", "2", "0"], "")
    assert house.run() == (["8.0", "0", "1"], "")


@pytest.mark.parametrize("damage", [b"", b"damaged", None], ids=["empty", "other bytes", "half"])
@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_damaged_file_stops_no_kernel_and_is_written_again(house, ending, damage):
    house.run()
    for file in house.cache.rglob(f"*.{ending}"):
        whole = file.read_bytes()
        file.write_bytes(whole[: len(whole) // 2] if damage is None else damage)
    printed, logged = house.run()
    assert printed == ["8.0", "2", "0"]
    assert "is damaged" in logged
    assert house.run() == (["8.0", "0", "1"], "")


@unix
def test_damaged_file_on_a_full_disk_stops_no_kernel(house):
    house.run()
    for file in house.cache.rglob("*.nb?"):
        file.write_bytes(b"damaged")
    printed, logged = house.run("full")
    assert printed == ["8.0", "2", "0"]
    assert "is damaged" in logged


@unix
def test_read_only_installation_without_a_home_runs(tmp_path):
    """Every __pycache__ is a file: nothing can be cached beside the package, by root either."""
    package = Path(stickbreak.__file__).parent
    shutil.copytree(package, tmp_path / "stickbreak", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "stickbreak" / "__pycache__").write_text("")
    code = "from stickbreak.numerics.special import digamma; print(round(digamma(1.0), 10))"
    settings = {name: value for name, value in os.environ.items() if name not in ("XDG_CACHE_HOME", "NUMBA_CACHE_DIR")}
    for more in ({}, {"NUMBA_DISABLE_JIT": "1"}):
        paths = {"PYTHONPATH": str(tmp_path), "HOME": os.devnull, "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run([sys.executable, "-c", code], env=settings | paths | more, capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (0, "-0.5772156649\n"), done.stderr


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
            "from stickbreak.likelihoods.kernels.dirichlet import expected_word_weights\n"
            f"from stickbreak.variational.kernels.statistics import document_statistics\n{first}\n{KERNEL}"
        )
        printed.append(fresh_python(code).stdout)
    assert printed[0] == printed[1]
