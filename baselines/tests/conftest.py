"""What these tests share with those of stickbreak."""

from tests.conftest import fresh_python, make_model, seed

__all__ = ["fresh_python", "make_model", "seed"]
