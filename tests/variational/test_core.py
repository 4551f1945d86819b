"""The core and the moves never ask what they have: words or vectors, an admixture or a mixture."""

import ast
from pathlib import Path

import pytest

import stickbreak.variational

ROOT = Path(stickbreak.variational.__file__).parent
EDGES = {  # of the family: they know what they have
    "__init__.py", "estimator.py", "checks.py", "words.py", "vectors.py", "vector_model.py", "gaussian_hdp.py",
    "gaussian_mixture.py",
}  # fmt: skip
FILES = sorted([*(file for file in ROOT.glob("*.py") if file.name not in EDGES), *(ROOT / "moves").glob("*.py")])


def questions(tree):
    """Yield the line of each question for the kind of an object."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in ("isinstance", "issubclass", "hasattr"):
                yield node.lineno
            if node.func.id == "type" and len(node.args) == 1:
                yield node.lineno
        if isinstance(node, ast.Compare) and "prior" in ast.unparse(node) and "None" in ast.unparse(node):
            yield node.lineno
        if isinstance(node, ast.MatchClass):
            yield node.lineno


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_core_and_moves_never_ask_for_the_kind_of_an_object(file):
    lines = list(questions(ast.parse(file.read_text(encoding="utf-8"))))
    assert lines == [], f"{file.name} asks at lines {lines}; let the object answer by a method instead"


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_core_and_moves_import_neither_words_nor_vectors(file):
    source = file.read_text(encoding="utf-8")
    assert "variational.words" not in source
    assert "variational.vectors" not in source


@pytest.mark.parametrize(
    "source",
    ["isinstance(x, int)", "x.prior is None", "y = 1 if visit.prior is not None else 2", "type(x) is int"],
)
def test_questions_are_found(source):
    assert list(questions(ast.parse(source)))
