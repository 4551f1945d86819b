"""The trials by chance run in a process of their own, as their workers are forks of it."""

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module", autouse=True)
def little_to_copy():
    """Leave what other tests have made out of garbage collections: one in a forked process would copy it all."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def fuzz():
    """Return a function from the words of `python -m fuzz` to its exit code and what it printed."""

    def run(*words):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
        done = subprocess.run(
            [sys.executable, "-m", "fuzz", *map(str, words)],
            capture_output=True,
            text=True,
            timeout=1200,
            check=False,
            cwd=ROOT,
            env=environment,
        )
        return done.returncode, done.stdout + done.stderr

    return run


@pytest.fixture(scope="session")
def broken(fuzz):
    """Return the line of every input of tests/data/broken, by its name."""
    _, printed = fuzz("repeat", BROKEN)
    return dict(line.split(": ", 1) for line in printed.splitlines() if ": " in line)


BROKEN = Path(__file__).parents[1] / "data" / "broken"


@pytest.fixture
def fresh_fuzz():
    """Return a function that runs code with a word in a new interpreter that finds `fuzz`, and gives what it prints."""

    def run(code, *words):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
        done = subprocess.run(
            [sys.executable, "-c", code, *words],
            capture_output=True,
            text=True,
            timeout=1200,
            check=False,
            env=environment,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    return run
