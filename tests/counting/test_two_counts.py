"""Two counts to one folder: one of them works, the other is told so; a lock does not outlive its process."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import stickbreak
from stickbreak.counting import parts
from stickbreak.exceptions import WriteError
from stickbreak.fitting.progress import StageProgress

HOLD = """
import sys, time
from pathlib import Path
from stickbreak.counting.parts import folder_of_parts
with folder_of_parts(Path(sys.argv[1])) as folder:
    (folder / "held").touch()
    time.sleep(1200)
"""
LOCKS = pytest.mark.skipif(sys.platform == "win32", reason="no such locks")


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "texts.txt"
    path.write_text("bread and butter\nbread with salt\n")
    return path


@LOCKS
def test_a_second_count_is_refused_while_the_first_lives(texts, tmp_path):
    out = tmp_path / "counts"
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(out)])
    try:
        deadline = time.monotonic() + 600
        while not (tmp_path / "counts.parts" / "held").exists() and time.monotonic() < deadline:
            assert holder.poll() is None
            time.sleep(0.01)
        with pytest.raises(WriteError, match="is being counted by another process; wait until"):
            stickbreak.count_files(texts, out)
        assert (tmp_path / "counts.parts" / "held").exists()
    finally:
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    assert stickbreak.count_files(texts, out).n_documents == 2  # what was killed holds nothing
    assert sorted(os.listdir(tmp_path)) == ["counts", "texts.txt"]


@LOCKS
def test_a_second_count_of_the_same_process_is_refused(texts, tmp_path):
    out = tmp_path / "counts"
    with parts.folder_of_parts(out):
        (tmp_path / "counts.parts" / "parts.json").write_text("[]")  # whatever it says
        with pytest.raises(WriteError, match="is being counted by another process"):
            stickbreak.count_files(texts, out)
    stickbreak.count_files(texts, out)


@LOCKS
def test_a_folder_that_its_user_removes_meanwhile_is_made_again(texts, tmp_path, monkeypatch):
    real, calls = parts.lock_folder, []

    def removed_first(folder):
        calls.append(folder)
        if len(calls) == 1:
            shutil.rmtree(folder)
        return real(folder)

    monkeypatch.setattr(parts, "lock_folder", removed_first)
    assert stickbreak.count_files(texts, tmp_path / "counts").n_documents == 2
    assert len(calls) == 2


def test_a_call_that_fails_takes_its_lock_off(texts, tmp_path, monkeypatch):
    with pytest.raises(ZeroDivisionError), parts.folder_of_parts(tmp_path / "counts"):
        raise ZeroDivisionError
    (tmp_path / "counts.parts" / "parts.json").unlink()  # as if it had been killed at once
    stickbreak.count_files(texts, tmp_path / "counts")


def test_progress_is_told(texts, tmp_path):
    events = []
    stickbreak.count_files(texts, tmp_path / "counts", callback=events.append)
    assert events == [
        {"stage": "count", "done": 0, "total": 1},
        {"stage": "count", "done": 1, "total": 1},
        {"stage": "write", "done": 0, "total": 1},
        {"stage": "write", "done": 1, "total": 1},
    ]


def test_bars_are_on_standard_error_and_only_if_wanted(capsys):
    for show in (False, True):
        with StageProgress(show) as progress:
            progress.update({"stage": "count", "done": 3, "total": 8})
            progress.update({"stage": "write", "done": 2, "total": 5})
        out, err = capsys.readouterr()
        assert out == ""
        assert ("3/8" in err, "2/5" in err) == (show, show)
