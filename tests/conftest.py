"""What all tests share: the marker `data`, the seed, a fresh interpreter.

STICKBREAK_DATA names the folder of the real corpora (without it their tests are skipped); STICKBREAK_TEST_SEED moves
the seed of the tests that take the fixture `seed`.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

DATA = "STICKBREAK_DATA"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get(DATA):
        return
    skip = pytest.mark.skip(reason=f"needs the real corpora: set {DATA} to their folder")
    for item in items:
        if item.get_closest_marker("data"):
            item.add_marker(skip)


@pytest.fixture
def data_folder() -> Path:
    """The folder of the real corpora."""
    folder = Path(os.environ[DATA])
    assert folder.is_dir(), f"{DATA} is {folder}, which is no folder"
    return folder


@pytest.fixture
def seed() -> int:
    """The seed of the whole suite."""
    return int(os.environ.get("STICKBREAK_TEST_SEED", "0"))


@pytest.fixture
def fresh_python() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Return a function that runs code in a new interpreter, warnings as errors; `arguments` are its sys.argv[1:]."""

    def run(code: str, *arguments: object, returncode: int = 0) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-W", "error", "-c", code, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == returncode, f"exit code {done.returncode}:\n{done.stderr}"
        return done

    return run
