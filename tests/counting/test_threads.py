"""Threads count as one does."""

from importlib import import_module
from pathlib import Path

import pytest

import stickbreak

MODULE = import_module("stickbreak.counting.count_files")  # the function has the same name


@pytest.mark.parametrize("n_jobs", [2, 3, -1])
def test_threads_give_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_jobs: int) -> None:
    monkeypatch.setattr(MODULE, "STEP", 2000)
    lines = [f"word{chr(97 + i % 23)} other{chr(97 + i % 7)} salt bread{chr(97 + i % 3)}" for i in range(700)]
    (tmp_path / "texts.txt").write_text("\n".join(lines))
    one = stickbreak.count_files(tmp_path / "texts.txt", tmp_path / "one")
    many = stickbreak.count_files(tmp_path / "texts.txt", tmp_path / "many", n_jobs=n_jobs)
    assert one.n_jobs == many.n_jobs > 5
    files = [{file.name: file.read_bytes() for file in made.path.iterdir()} for made in (one, many)]
    assert files[0] == files[1]
