"""Renew the help texts in docs/cli.md: `python docs/generate_cli.py` (or `make cli-docs`).

Help texts stand between `<!-- help of stickbreak COMMAND -->` and `<!-- end of help -->`; tests/test_docs.py compares.
"""

import re
from pathlib import Path
from unittest.mock import patch

from typer.testing import CliRunner

from stickbreak.cli.app import app

PAGE = Path(__file__).parent / "cli.md"
WIDTH = 80
_BLOCK = re.compile(r"<!-- help of (stickbreak[a-z -]*?) -->\n.*?<!-- end of help -->", re.DOTALL)


def help_text(command: str) -> str:
    """Return what `COMMAND --help` prints on a terminal of 80 columns."""
    with patch.multiple("typer.rich_utils", MAX_WIDTH=WIDTH, FORCE_TERMINAL=False):
        result = CliRunner().invoke(app, [*command.split()[1:], "--help"], prog_name="stickbreak")
    if result.exit_code != 0:
        raise ValueError(f"docs/cli.md asks for the help of {command!r}, but that fails: {result.output}")
    return "\n".join(line.rstrip() for line in result.stdout.splitlines()).strip("\n")


def renewed(page: str) -> str:
    """Return the page with every help text as it is now."""
    return _BLOCK.sub(_block, page)


def documented(page: str) -> set[str]:
    """Return the commands whose help is on the page."""
    return set(_BLOCK.findall(page))


def _block(found: re.Match[str]) -> str:
    return f"<!-- help of {found[1]} -->\n```text\n{help_text(found[1])}\n```\n<!-- end of help -->"


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
