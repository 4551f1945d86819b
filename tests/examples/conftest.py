"""The examples are files, not modules of a package."""

import importlib.util
import sys
from pathlib import Path

import pytest


@pytest.fixture
def example(request, monkeypatch):
    """The example that the file of tests is named after."""
    name = request.module.__name__.rpartition(".")[2].removeprefix("test_")
    spec = importlib.util.spec_from_file_location(name, Path(__file__).parents[2] / "examples" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)  # dataclasses look there
    spec.loader.exec_module(module)
    return module
