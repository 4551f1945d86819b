"""All job functions declare what travels; `check`, which every test with workers calls, refuses more than that."""

import ast
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stickbreak

from .declared import DECLARED, check

ROOT = Path(stickbreak.__file__).parent
RUNS = {"run", "run_summed", "run_each"}  # their first argument is the function, or the second


def job_functions() -> Iterator[str]:
    """Functions that the source gives to an engine, by module and name."""
    for path in ROOT.rglob("*.py"):
        tree, module = ast.parse(path.read_text()), ".".join(path.relative_to(ROOT).with_suffix("").parts)
        homes = {node.name: module for node in tree.body if isinstance(node, ast.FunctionDef)}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("stickbreak."):
                homes |= {alias.name: str(node.module).removeprefix("stickbreak.") for alias in node.names}
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                called = getattr(node.func, "attr", getattr(node.func, "id", ""))
                given = node.args[:2] if called in RUNS else []
                names = [one.id for one in given if isinstance(one, ast.Name)]
                yield from (f"{homes[name]}.{name}" for name in names if name in homes)


def test_every_job_function_is_declared() -> None:
    assert set(job_functions()) == set(DECLARED)


def honest(shared: Any, job: Any) -> Any:
    """Do nothing."""


def test_more_than_declared_is_refused() -> None:
    from stickbreak.backoff_tree.counting import counts_of_block

    check(honest, 1, None, 0)
    check(counts_of_block, 1, None, 2_000)
    with pytest.raises(AssertionError, match="counts_of_block"):
        check(counts_of_block, 1, None, 2_001)
    with pytest.raises(AssertionError, match="counts_of_block"):
        check(counts_of_block, np.zeros(200), None, 0)
    with pytest.raises(AssertionError):
        check(partial(honest, np.zeros(200)), 1, None, 0)
    with pytest.raises((AssertionError, AttributeError)):
        check(lambda shared, job: None, 1, None, 0)
