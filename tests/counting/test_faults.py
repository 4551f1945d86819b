"""What can go wrong while texts are counted: one sentence each, nothing half written, and a call that goes on."""

import errno
import gzip
import os
import random
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import stickbreak
from stickbreak.corpus import read
from stickbreak.corpus.folder import CorpusWriter
from stickbreak.corpus.reading.decoding import Dirt
from stickbreak.counting import count_files as count_files_of_room
from stickbreak.counting import parts
from stickbreak.counting.parts import count_job
from stickbreak.exceptions import NoDocuments, ReadError, WriteError

count_files = stickbreak.count_files
counting = sys.modules[count_files_of_room.__module__]
LINES = ["bread and butter", "bread with salt", "salt and butter and olives"] * 40


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(LINES))
    return path


def sentence(error: Exception) -> str:
    """Return a message, if it is one sentence."""
    assert "\n" not in str(error)
    return str(error)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda path: path.unlink(), "does not exist"),
        (lambda path: path.write_text("\n".join([*LINES, "more"])), "was changed while it was counted; count it again"),
    ],
)
@pytest.mark.parametrize("when", ["before", "while"])
def test_a_file_that_vanishes_or_grows_meanwhile_is_told(texts, tmp_path, monkeypatch, change, said, when):
    def changed(shared, job):
        if when == "before":
            change(texts)
            return count_job(shared, job)
        blocks = job.pieces[0].blocks(Dirt())
        next(blocks)
        change(texts)
        return list(blocks)

    with monkeypatch.context() as patch:
        patch.setattr(counting, "count_job", changed)
        with pytest.raises(ReadError) as error:
            count_files(texts, tmp_path / "counts")
    assert said in sentence(error.value)
    assert str(texts) in str(error.value)
    assert not (tmp_path / "counts").exists()
    texts.write_text("\n".join(LINES))
    assert count_files(texts, tmp_path / "counts").n_documents == len(LINES)


@pytest.mark.parametrize("place", ["part", "corpus"])
def test_a_full_disk_is_told_and_the_same_call_goes_on(texts, tmp_path, monkeypatch, place):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(*((parts.np, "savez") if place == "part" else (CorpusWriter, "add")), full)
        with pytest.raises(WriteError) as error:
            count_files(texts, tmp_path / "counts")
    assert "the disk is full; free some space or choose another place" in sentence(error.value)
    assert sorted(os.listdir(tmp_path)) == ["counts.parts", "texts.txt"]
    assert not list((tmp_path / "counts.parts").glob(".*"))
    done = count_files(texts, tmp_path / "counts")
    assert done.n_jobs_before == (place == "corpus")
    np.testing.assert_array_equal(done.open().counts.toarray(), read(texts).counts.toarray())


def packed_and_cut(path: Path) -> None:
    draw = random.Random(0)
    lines = "\n".join("".join(draw.choices("abcdefgh ", k=60)) for _ in range(20_000))
    path.write_bytes(gzip.compress(lines.encode())[:-1000])


@pytest.mark.parametrize(
    ("name", "make", "kind", "said"),
    [
        ("cut.txt.gz", packed_and_cut, ReadError, "is a truncated packed file: it ends too early; fetch it again"),
        (
            "numbers.parquet",
            lambda path: pq.write_table(pa.table({"n": [1, 2]}), path),
            ReadError,
            "it is not clear which field holds the text; name one with --text",
        ),
        (
            "cut.parquet",
            lambda path: path.write_bytes(b"PAR1 and no more"),
            ReadError,
            "is not a readable Parquet file",
        ),
        ("empty", lambda path: path.mkdir(), NoDocuments, "holds no documents"),
        ("no-such-*.csv", lambda path: None, ReadError, "no file matches"),
    ],
)
def test_input_that_cannot_be_counted_is_told(tmp_path, name, make, kind, said):
    make(tmp_path / name)
    with pytest.raises(kind) as error:
        count_files(tmp_path / name, tmp_path / "counts")
    assert said in sentence(error.value)
    assert str(tmp_path / name) in str(error.value)
    assert not (tmp_path / "counts").exists()


def test_a_folder_of_pictures_holds_no_texts(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    with pytest.raises(ReadError) as error:
        count_files(tmp_path / "in", tmp_path / "counts")
    assert str(error.value) == str(tmp_path / "in") + " holds no documents; a corpus needs at least one"
