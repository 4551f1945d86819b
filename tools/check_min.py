"""Tests on the oldest versions of the dependencies that pyproject.toml allows: `python -m tools.check_min`."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from tools.environment import ROOT, install, new_environment, run

# what the tests themselves need: of any version, as no user needs it
FOR_THE_TESTS = ("hypothesis", "pillow", "pytest", "pytest-benchmark", "pyyaml")
# a test in each room that stands on a dependency: arrays, files, readers, kernels, report, command line, scikit-learn
CHECKED = ("numerics", "storage", "corpus", "model", "report", "cli", "questions", "contract", "test_loading.py")


def oldest(python: Path) -> str:
    """Return the oldest allowed version of each direct dependency, as lines of requirements."""
    if shutil.which("uv") is None:
        raise SystemExit("uv is not installed; it finds the oldest versions (pip install uv)")
    options = ("--quiet", "--no-header", "--no-annotate", "--resolution", "lowest-direct")
    return run("uv", "pip", "compile", *options, "--python", python, ROOT / "pyproject.toml")


def main() -> None:
    """Install the oldest versions in a new environment, and run tests there."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        python = new_environment(folder / "environment")
        requirements = folder / "oldest.txt"
        requirements.write_text(oldest(python))
        print(requirements.read_text(), flush=True)
        install(python, "--requirement", requirements, *FOR_THE_TESTS)
        install(python, "--no-deps", ROOT, ROOT / "baselines", ROOT / "sequences")
        # old packages may warn of what newer ones will remove: that is no fault of ours
        options = ("-o", "filterwarnings=default", "-p", "no:cacheprovider", "-m", "not slow and not data")
        tests = [ROOT / "tests" / name for name in CHECKED]
        print(run(python, "-m", "pytest", *options, *tests, variables={"NUMBA_CACHE_DIR": str(folder / "kernels")}))


if __name__ == "__main__":
    main()
