"""`python -m fuzz MODE`: trials by chance that look for what breaks stickbreak; `python -m fuzz MODE --help`."""

from __future__ import annotations

import argparse
import importlib
import sys

MODES = ("readers", "loaders", "kills", "faults", "determinism", "numbers")
"""Each is a module of this package with `add_arguments` and `run`, which returns the number of failures."""

TOOLS = ("repeat", "hashes")
"""Modules like these, not part of `make fuzz`: one tries inputs again that a run kept, one compares fits."""


def main(words: list[str]) -> int:
    """Run a mode; return the exit code: 0 without failures, 1 with some, 2 for a wrong command."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("mode", choices=(*MODES, *TOOLS), help="what is tried")
    chosen = parser.parse_args(words[:1])
    module = importlib.import_module(f"fuzz.{chosen.mode}")
    options = argparse.ArgumentParser(prog=f"python -m fuzz {chosen.mode}", description=module.__doc__)
    module.add_arguments(options)
    return 1 if module.run(options.parse_args(words[1:])) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
