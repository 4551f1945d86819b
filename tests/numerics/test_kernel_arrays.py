"""Whole arrays inside kernels, and that no kernel copies one in the way that takes two seconds to compile."""

import ast
from pathlib import Path

import numpy as np
import pytest

import stickbreak
from stickbreak.numerics.kernel_arrays import add, copy

KERNELS = sorted(Path(stickbreak.__file__).parent.glob("*/kernels/*.py"))


def test_copy_and_add_write_all_elements():
    first, second, out = np.array([1.0, 2.0]), np.array([0.5, -2.0]), np.empty(2)
    copy(first, out)
    assert out.tolist() == [1.0, 2.0]
    add(first, second, out)
    assert out.tolist() == [1.5, 0.0]


def copies(tree):
    """Yield the lines that give a whole slice anything but a number, or a constant by its name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                pairs = zip(target.elts, node.value.elts, strict=True) if isinstance(node.value, ast.Tuple) else ()
                for to, value in list(pairs) or [(target, node.value)]:
                    number = value.operand if isinstance(value, ast.UnaryOp) else value
                    constant = isinstance(number, ast.Constant) or (isinstance(value, ast.Name) and value.id.isupper())
                    if isinstance(to, ast.Subscript) and isinstance(to.slice, ast.Slice) and not constant:
                        yield node.lineno


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_kernel_copies_no_array_with_a_check_of_shapes(path):
    assert list(copies(ast.parse(path.read_text(encoding="utf-8")))) == []
