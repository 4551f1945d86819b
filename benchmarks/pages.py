"""Run every command that stands on the pages of the benchmarks, in their order: many hours."""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from pathlib import Path

from benchmarks.harness import pages


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--only", nargs="+", metavar="PAGE", help="names of pages, such as topics")
    parser.add_argument("--list", action="store_true", help="print the commands, and run none")
    parser.add_argument("--docs", type=Path, default=pages.DOCS, help="the folder of the pages")


def run(options: argparse.Namespace) -> str:
    """Run the commands; return a line for each, and raise Incomplete if one failed."""
    found = [page for page in pages.pages(options.docs) if not options.only or page.stem in options.only]
    lines, failed = [], 0
    for words in [words for page in found for words in pages.commands(page)]:
        line = shlex.join([*pages.PROGRAM, *words])
        if not options.list:
            sys.stderr.write(f"{line}\n")
            code = subprocess.run([sys.executable, "-m", "benchmarks", *words], check=False).returncode
            failed += code != 0
            line = f"{'done' if code == 0 else 'failed'}: {line}"
        lines.append(line)
    if failed:
        raise pages.Incomplete("\n".join(lines))
    return "\n".join(lines)
