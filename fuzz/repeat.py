"""Inputs that a run kept (--keep), or that once failed (tests/data/broken), tried again: one line for each."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from fuzz import loaders, readers
from fuzz.campaign import unchanged
from fuzz.children import Children, Limits
from fuzz.outcomes import FAILURES, RESULT, Outcome
from stickbreak.methods import methods

_CALL = "call.json"


class Kept:
    """The trials of kept inputs: number n is the folder n."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = folders

    def good(self) -> Iterator[Any]:
        """Give readable files, for these are broken: reading them imports what children need."""
        yield from readers.Readers(0).good()

    def make(self, number: int) -> Any:
        """Take up the input of a folder."""
        return _kept(self._folders[number])[0]

    def attempt(self, given: Any, folder: Path) -> None:
        """Try an input as the mode did that made it."""
        (loaders if isinstance(given, loaders.Input) else readers).attempt(given, folder)


def _kept(folder: Path) -> tuple[Any, str]:
    call = json.loads((folder / _CALL).read_text())["call"]
    return loaders.kept(folder) if call in ("model", "checkpoint") else readers.kept(folder)


def kept_folders(places: Sequence[Path]) -> list[Path]:
    """Return the folders of kept inputs at or below some places."""
    return sorted({call.parent for place in places for call in place.rglob(_CALL)})


def wrong(outcome: Outcome, expected: str) -> bool:
    """Whether an outcome is a failure, or not the one that is expected."""
    if outcome.kind in FAILURES:
        return True
    return expected != "either" and (outcome.kind == RESULT) != (expected == RESULT)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this mode."""
    parser.add_argument("folders", nargs="+", type=Path, help="kept inputs, or folders that hold some")


def run(arguments: argparse.Namespace) -> int:
    """Try each input in child processes and print its outcome; return how many are not as expected."""
    folders = kept_folders(arguments.folders)
    for method in methods().values():
        method.load()
    trials = Kept(folders)
    failed = unchanged(trials)
    # Kernels may have to be compiled first, which takes longer than an input of a run may take.
    outcomes = {found.number: found for found in Children(trials, Limits(seconds=120.0), 1).run(range(len(folders)))}
    for number, outcome in sorted(outcomes.items()):
        folder = folders[number]
        expected = _kept(folder)[1]
        bad = wrong(outcome, expected)
        failed += bad
        place = f" at {outcome.place}" if outcome.place else ""
        print(f"{folder.name}: {'FAILED, ' if bad else ''}{outcome.kind}: {outcome.text}{place}", flush=True)
    print(f"{len(folders)} inputs, {failed} not as expected")
    return failed
