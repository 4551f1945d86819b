"""Take the picture of a report: `python docs/report_picture.py`, with Chromium; about a minute.

The report is that of `stickbreak demo`. Its topics depend on the version of Python, whose documentation they are of.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PICTURE = Path(__file__).with_name("report.png")
WIDTH, HEIGHT = 1280, 1080
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def find_browser() -> str:
    """Return the path of a browser that needs no screen, or end the program with a sentence."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        sys.exit(f"there is no browser to take the picture with; install one of {', '.join(BROWSERS)}")
    return found


def command(browser: str, page: Path, picture: Path, profile: Path) -> list[str]:
    """Return the command that takes a picture of a page, once its scripts have drawn.

    Parameters
    ----------
    browser : str
    page, picture : Path
        What is shown, and the PNG file to write.
    profile : Path
        An empty folder for the browser's own files.
    """
    as_root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []  # it refuses to start otherwise
    return [
        browser,
        "--headless",
        *as_root,
        "--disable-gpu",
        "--hide-scrollbars",
        f"--window-size={WIDTH},{HEIGHT}",
        "--virtual-time-budget=10000",
        f"--user-data-dir={profile}",
        f"--screenshot={picture}",
        page.as_uri(),
    ]


def take() -> None:
    """Fit the demo in an empty folder and write the picture of its report."""
    browser = find_browser()
    with tempfile.TemporaryDirectory() as folder:
        out, picture = Path(folder, "demo"), Path(folder, "report.png")
        subprocess.run([sys.executable, "-m", "stickbreak", "demo", "--out", str(out)], check=True)
        words = command(browser, out / "report.html", picture, Path(folder, "profile"))
        subprocess.run(words, check=True, stderr=subprocess.DEVNULL)  # what it misses of a desktop
        shutil.copyfile(picture, PICTURE)


if __name__ == "__main__":
    take()
