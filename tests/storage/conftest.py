"""Overwriting with and without the exchange of two folders in one step."""

import pytest

from stickbreak.storage import atomic


@pytest.fixture
def without_exchange(monkeypatch):
    monkeypatch.setattr(atomic, "_exchange", lambda one, other: False)


@pytest.fixture
def with_exchange(tmp_path):
    for name in "ab":
        (tmp_path / name).mkdir()
    able = atomic._exchange(tmp_path / "a", tmp_path / "b")
    for name in "ab":
        (tmp_path / name).rmdir()
    if not able:
        pytest.skip("this system cannot exchange two folders in one step")
