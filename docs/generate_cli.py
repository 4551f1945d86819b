"""Renew what is made from the estimators for the command line: `python docs/generate_cli.py` (or `make cli-docs`).

First the stored parameters, of which the options are made (src/stickbreak/cli/parameters.json), then the help texts in
docs/cli.md. Those stand between `<!-- help of stickbreak COMMAND -->` and `<!-- end of help -->`. Tests compare both.
"""

import re
from pathlib import Path
from unittest.mock import patch

from typer.testing import CliRunner

PAGE = Path(__file__).parent / "cli.md"
WIDTH = 80
_BLOCK = re.compile(r"<!-- help of (stickbreak[a-z -]*?) -->\n.*?<!-- end of help -->", re.DOTALL)


def help_text(command: str) -> str:
    """Return what `COMMAND --help`, or a command that ends in --help-all, prints on a terminal of 80 columns."""
    from stickbreak.cli.app import app  # once the stored parameters are renewed

    asked = command.split()[1:]
    if asked[-1:] != ["--help-all"]:
        asked.append("--help")
    with patch.multiple("typer.rich_utils", MAX_WIDTH=WIDTH, FORCE_TERMINAL=False):
        result = CliRunner().invoke(app, asked, prog_name="stickbreak")
    if result.exit_code != 0:
        raise ValueError(f"docs/cli.md asks for the help of {command!r}, but that fails: {result.output}")
    return "\n".join(line.rstrip() for line in result.stdout.splitlines()).strip("\n")


def renewed(page: str) -> str:
    """Return the page with every help text as it is now."""
    return _BLOCK.sub(_block, page)


def documented(page: str) -> set[str]:
    """Return the commands whose help is on the page."""
    return {command.removesuffix(" --help-all") for command in _BLOCK.findall(page)}


def _block(found: re.Match[str]) -> str:
    return f"<!-- help of {found[1]} -->\n```text\n{help_text(found[1])}\n```\n<!-- end of help -->"


def renew_parameters() -> None:
    """Write the parameters of the estimators to the file that the command line reads."""
    from stickbreak.cli.stored import STORED, stored_text

    STORED.write_text(stored_text(), encoding="utf-8")


if __name__ == "__main__":
    renew_parameters()
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
