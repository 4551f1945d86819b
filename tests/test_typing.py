"""A user's type checker learns from the package what its functions return, and sees mistakes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import stickbreak

ROOT = Path(__file__).parents[1]
TYPED = [ROOT / "tests" / "typing", ROOT / "examples"]


@pytest.fixture(scope="module")
def mypy(tmp_path_factory):
    """Return a function that runs mypy as a strict user would, and gives what it prints."""
    place = tmp_path_factory.mktemp("mypy")

    def check(*paths, python="3.11"):
        options = ["--config-file=", "--strict", f"--python-version={python}", f"--cache-dir={place / 'cache'}"]
        # the package is installed in place, and its inside is checked by the settings of pyproject.toml
        options += ["--follow-imports=silent", "--no-error-summary", "--no-pretty"]
        place_of = {"MYPYPATH": f"{Path(stickbreak.__file__).parents[1]}{os.pathsep}{ROOT}"}
        run = subprocess.run(
            [sys.executable, "-m", "mypy", *options, *map(str, paths)],
            capture_output=True, text=True, cwd=place, env=place_of,
        )  # fmt: skip
        return run.stdout + run.stderr

    return check


def test_typed_usage_and_examples_pass_strict_mypy(mypy):
    assert mypy(*TYPED) == ""


def test_mypy_sees_a_wrong_type(mypy, tmp_path):
    wrong = tmp_path / "wrong.py"
    wrong.write_text("import stickbreak\nmodel: stickbreak.GibbsHDP = stickbreak.TopicModel().fit([[1]])\n")
    assert "Incompatible types in assignment" in mypy(wrong)
