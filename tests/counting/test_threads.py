"""Threads count as one does."""

import json
from importlib import import_module
from pathlib import Path

import pytest

import stickbreak

MODULE = import_module("stickbreak.counting.count_files")  # the function has the same name


@pytest.mark.parametrize("n_jobs", [2, 3, -1])
def test_threads_give_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_jobs: int) -> None:
    monkeypatch.setattr(MODULE, "STEP", 2000)
    texts = [f"word{chr(97 + i % 23)} other{chr(97 + i % 7)} salt bread{chr(97 + i % 3)}" for i in range(700)]
    rows = [{"text": text, "stars": i % 5} | ({"id": f"n{i}"} if i % 3 == 0 else {}) for i, text in enumerate(texts)]
    path = tmp_path / "texts.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    one = stickbreak.count_files(path, tmp_path / "one", keep=["stars"])
    told: list[int] = []
    many = stickbreak.count_files(
        path, tmp_path / "many", keep=["stars"], n_jobs=n_jobs, callback=lambda event: told.append(event["done"])
    )
    assert one.n_jobs == many.n_jobs > 5
    assert told == [*range(one.n_jobs + 1)] * 2
    assert one.open().names == tuple(f"n{i}" if i % 3 == 0 else str(i) for i in range(700))
    assert one.open().metadata["stars"].to_pylist() == [i % 5 for i in range(700)]
    files = [{file.name: file.read_bytes() for file in made.path.iterdir()} for made in (one, many)]
    assert files[0] == files[1]
