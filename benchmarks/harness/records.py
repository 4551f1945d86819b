"""Results of long benchmarks as JSON lines, one a run: a benchmark that was cut goes on where it stopped."""

from __future__ import annotations

import hashlib
import inspect
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType
from typing import Any

import stickbreak

Record = dict[str, Any]


def code_digest(function: Callable[[Record], Record], helpers: Sequence[ModuleType | Callable[..., Any]] = ()) -> str:
    """Return a digest of a measurement and the sources of stickbreak: results of others are not taken for theirs."""
    digest = hashlib.sha256(inspect.getsource(function).encode())
    for helper in helpers:
        digest.update(inspect.getsource(helper).encode())
    root = Path(stickbreak.__file__).parent
    for file in sorted(root.rglob("*.py")):
        digest.update(str(file.relative_to(root)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:12]


class Records:
    """The runs of a benchmark, in a file.

    Parameters
    ----------
    path : Path
        Read if it exists; a line is added after each run.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        self._all: list[Record] = [json.loads(line) for line in text.splitlines()]

    def run(
        self,
        function: Callable[[Record], Record],
        keys: list[Record],
        processes: int = 1,
        *,
        helpers: Sequence[ModuleType | Callable[..., Any]] = (),
    ) -> list[Record]:
        """Return the record of each key: from the file if the same code made it, else what `function` makes of the key.

        Parameters
        ----------
        function : callable
            Of a module, so that other processes find it.
        keys : list of dict
            Plain values: all that a run depends on besides the code.
        processes : int
            How many runs at a time; seconds are right with 1 only.
        helpers : sequence of modules and functions
            Of the benchmarks, whose code decides about results too.
        """
        digest = code_digest(function, helpers)
        keys = [{**key, "code": digest} for key in keys]
        missing = [key for key in keys if self._find(key) is None]
        for key, result in _results(function, missing, processes):
            self._add(json.loads(json.dumps({**key, **result})))
        found = [self._find(key) for key in keys]
        return [record for record in found if record is not None]

    def _find(self, key: Record) -> Record | None:
        fits = (record for record in self._all if all(record.get(name, ...) == key[name] for name in key))
        return next(fits, None)

    def _add(self, record: Record) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
        self._all.append(record)
        brief = {name: value for name, value in record.items() if not isinstance(value, list | dict)}
        sys.stderr.write(f"{brief}\n")


def _results(
    function: Callable[[Record], Record], keys: list[Record], processes: int
) -> Iterator[tuple[Record, Record]]:
    """Yield each key with its result, as they come."""
    if processes == 1:
        for key in keys:
            yield key, function(key)
        return
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        tasks = {pool.submit(function, key): key for key in keys}
        for task in as_completed(tasks):
            yield tasks[task], task.result()
