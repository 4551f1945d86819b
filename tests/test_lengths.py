"""Files and functions stay short enough to be read at one sitting; what may be longer is named with the reason."""

import ast
from collections import deque
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("src", "tests", "benchmarks", "examples", "fuzz", "docs")
MOST_LINES_OF_A_FILE = 400
MOST_LINES_OF_A_FUNCTION = 60  # without its signature and its docstring

ONE_TOKEN = (
    "taking a token out, drawing and putting it in share their half-changed sums, which a part would have to return"
)
"""Why the loop of a kernel may be longer."""

LONGER = {
    "src/stickbreak/collapsed/kernels/draws.py: draw": ONE_TOKEN,
    "src/stickbreak/corpus/kernels/json_lines.py: scan_lines": "in parts it takes three times as long",
    "src/stickbreak/hybrid/kernels/documents.py: _sweep": ONE_TOKEN,
    "src/stickbreak/sampling/kernels/augmented.py: seat_tokens": ONE_TOKEN,
    "src/stickbreak/sampling/kernels/direct.py: sweep": ONE_TOKEN,
    "src/stickbreak/sampling/kernels/franchise.py: seat_tokens": ONE_TOKEN,
    "src/stickbreak/sampling/kernels/indicator.py: sweep": ONE_TOKEN,
    "src/stickbreak/sparse_gibbs/kernels/labelled.py: sweep": ONE_TOKEN,
    "src/stickbreak/variational/kernels/ascent.py: local_step": "buffers, the numbers of a document, and calls",
}

HOLDERS = (ast.stmt, ast.excepthandler, ast.match_case)
"""What a function may stand in; to look into expressions, too, would take most of the time."""


def sources() -> list[str]:
    """Every file of Python in the repository, by its path."""
    return [path.relative_to(ROOT).as_posix() for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]


def lengths_of_functions(source: str) -> Iterator[tuple[str, int]]:
    """Yield each function, method and inner function by its name, with the lines of its body."""
    found = deque([ast.parse(source)])
    while found:
        node = found.popleft()
        found.extend(child for child in ast.iter_child_nodes(node) if isinstance(child, HOLDERS))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
            yield node.name, (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def test_files_stay_short():
    lengths = {name: len((ROOT / name).read_text(encoding="utf-8").splitlines()) for name in sources()}
    assert len(lengths) > 300
    assert {name: n for name, n in lengths.items() if n > MOST_LINES_OF_A_FILE} == {}


def test_functions_stay_short():
    longer = {
        f"{name}: {function}": n
        for name in sources()
        for function, n in lengths_of_functions((ROOT / name).read_text(encoding="utf-8"))
        if n > MOST_LINES_OF_A_FUNCTION
    }
    assert {name: n for name, n in longer.items() if name not in LONGER} == {}
    assert LONGER.keys() - longer.keys() == set(), "named as longer, and it is not"


@pytest.mark.parametrize(
    ("source", "length"),
    [
        ("def f(a,\n      b):\n    return a", 1),
        ('def f():\n    """One.\n\n    Two.\n    """\n    a = 1\n\n    # why\n    return a', 4),
        ('def f():\n    """Nothing else."""', 0),
        ("async def f():\n    a = (\n        1\n    )", 3),
        ("class A:\n    def f(self):\n        pass\n        pass", 2),
        ("if 1:\n    def f():\n        pass", 1),
    ],
)
def test_length_of_a_function_is_that_of_its_body(source, length):
    assert list(lengths_of_functions(source)) == [("f", length)]
