"""What these tests share with those of stickbreak. All are left to `make test-long`, which compiles the baselines."""

from pathlib import Path

import pytest
from tests.conftest import fresh_python, make_model, seed

__all__ = ["fresh_python", "make_model", "seed"]

FOLDER = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark them."""
    for item in items:
        if item.path.is_relative_to(FOLDER):
            item.add_marker(pytest.mark.long)
