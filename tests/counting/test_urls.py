"""Texts at URLs: the bytes of a count of the same files, cut in the same way."""

import gzip
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from stickbreak.corpus import TextOptions
from stickbreak.corpus.reading.decoding import Dirt
from stickbreak.counting import count_files as count_files_of_room
from stickbreak.counting.count_files import _files_of as files_of
from stickbreak.exceptions import InputError, ReadError

fsspec = pytest.importorskip("fsspec")
MEMORY = fsspec.filesystem("memory")
counting = sys.modules[count_files_of_room.__module__]
OPTIONS = TextOptions(min_df=1, max_df=1.0)


@pytest.fixture
def bucket() -> Iterator[str]:
    yield "memory://bucket"
    if MEMORY.exists("/bucket"):
        MEMORY.rm("/bucket", recursive=True)


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "texts"
    (made / "deep" / "er").mkdir(parents=True)
    lines = "".join(f'{{"id": "d{n}", "text": "bread, salt and butter {"x" * (n % 5)}"}}\n' for n in range(200))
    (made / "a.jsonl").write_text(lines)
    (made / "b.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    (made / "deep" / "er" / "c.jsonl").write_text('{"text": "pepper"}\n')
    return made


def test_the_counts_are_those_of_the_files_and_jobs_read_their_lines_alone(
    bucket: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "STEP", 1000)
    MEMORY.put(f"{folder}/", bucket, recursive=True)
    expected = counting.count_files([folder / "*.jsonl", folder / "b.jsonl.gz"], tmp_path / "files", text=OPTIONS)
    found = counting.count_files([f"{bucket}/*.jsonl", f"{bucket}/b.jsonl.gz"], tmp_path / "urls", text=OPTIONS)
    assert found.n_jobs == expected.n_jobs > 7
    assert contents(tmp_path / "urls") == contents(tmp_path / "files")


def test_patterns_and_folders_at_urls_name_the_files_that_they_name_on_a_disk(bucket: str, folder: Path) -> None:
    MEMORY.put(f"{folder}/", bucket, recursive=True)
    for pattern in ("*.jsonl", "**/*.jsonl", "[ab].*", "[!a].*", "deep/**", "deep/*/c.jsonl", "a.jsonl"):
        expected = [str(file.relative_to(folder)) for file in files_of(folder / pattern) if file.is_file()]
        assert [str(file).removeprefix(f"{bucket}/") for file in files_of(f"{bucket}/{pattern}")] == expected
        assert expected
    with pytest.raises(ReadError, match=r"no file matches memory://bucket/\*\.csv"):
        files_of(f"{bucket}/*.csv")


def test_a_file_that_changes_while_it_is_counted_is_refused(bucket: str, folder: Path) -> None:
    MEMORY.put(str(folder / "a.jsonl"), f"{bucket}/a.jsonl")
    (piece,) = counting._pieces(files_of(f"{bucket}/a.jsonl"), counting.ReadSettings())
    MEMORY.pipe("/bucket/a.jsonl", b'{"text": "other"}\n')
    with pytest.raises(ReadError, match=r"memory://bucket/a.jsonl was changed while it was counted"):
        list(piece.blocks(Dirt()))


def test_a_count_is_written_to_a_disk(bucket: str, folder: Path) -> None:
    with pytest.raises(InputError, match=r"memory://bucket/out is a URL, but models, .* outputs need a disk"):
        counting.count_files(folder / "a.jsonl", f"{bucket}/out")
