"""docs/report.png comes from a command."""

import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "docs" / "report_picture.py"


def script(path: Path) -> subprocess.CompletedProcess[str]:
    """Run the command where programs are looked for in one folder only."""
    environment = {**os.environ, "PATH": str(path)}
    return subprocess.run([sys.executable, SCRIPT], env=environment, capture_output=True, text=True, check=False)


def size(picture: Path) -> tuple[int, ...]:
    """Width and height of a PNG file, from its header."""
    start = picture.read_bytes()[:24]
    assert start[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", start[16:])


def test_a_machine_without_a_browser_is_told_what_to_install_in_one_sentence(tmp_path):
    done = script(tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("there is no browser to take the picture with; install one of chromium,")
    assert done.stderr.count("\n") == 1


def test_the_picture_has_the_size_of_the_command():
    assert size(SCRIPT.with_name("report.png")) == (1280, 1080)


def test_a_page_becomes_a_picture_of_this_size(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(SCRIPT.parent)
    import report_picture

    if not any(map(shutil.which, report_picture.BROWSERS)):
        pytest.skip("there is no browser")
    page = tmp_path / "page.html"
    page.write_text("<p>text")
    words = report_picture.command(report_picture.find_browser(), page, tmp_path / "p.png", tmp_path / "profile")
    subprocess.run(words, check=True, capture_output=True, timeout=1200)
    assert size(tmp_path / "p.png") == (report_picture.WIDTH, report_picture.HEIGHT)
