"""What the first fit after an installation costs more than the second, and which kernels that is."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.harness.tables import table

_FEWEST_SECONDS = 0.05  # of a kernel that has a line of its own


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--repeats", type=int, default=3, help="installations; the least seconds of each kernel count")


def run(options: argparse.Namespace) -> str:
    """Return the seconds of both fits, and those of each kernel."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _child(folder, "sample.json", "demo", "--write-sample", str(folder / "sample.csv"), "--quiet")
        fits = [_two_fits(folder, number) for number in range(options.repeats)]
    firsts, seconds, kernels = zip(*fits, strict=True)
    least = {kernel: min(found.get(kernel, 0.0) for found in kernels) for kernel in kernels[0]}
    listed = {kernel: cost for kernel, cost in least.items() if cost >= _FEWEST_SECONDS}
    rows = [{"compiled": name, "processor seconds": f"{cost:.2f}"} for name, cost in sorted(listed.items(), key=_last)]
    rows.append({"compiled": f"{len(least) - len(listed)} others", "processor seconds": f"{_others(least):.2f}"})
    rows.append({"compiled": "all", "processor seconds": f"{sum(least.values()):.2f}"})
    both = {"first fit": f"{min(firsts):.1f} s", "second fit": f"{min(seconds):.1f} s"}
    return f"{table([both])}\n\n{table(rows)}"


def _last(item: tuple[str, float]) -> float:
    return -item[1]


def _others(least: dict[str, float]) -> float:
    return sum(cost for cost in least.values() if cost < _FEWEST_SECONDS)


def _two_fits(folder: Path, number: int) -> tuple[float, float, dict[str, float]]:
    """Return the seconds of a fit that compiles and of one that does not, and of what the first has compiled."""
    fit = ("fit", str(folder / "sample.csv"), "--out", str(folder / "model"), "--force", "--quiet")
    cache = folder / f"cache-{number}"
    first, second = (_child(folder, f"{name}.json", *fit, cache=cache) for name in ("first", "second"))
    return first["seconds"], second["seconds"], first["kernels"]


def _child(folder: Path, name: str, *words: str, cache: Path | None = None) -> dict:
    """Run a command line in a new process; return what it has told of itself."""
    out = folder / name
    places = {} if cache is None else {"NUMBA_CACHE_DIR": str(cache)}
    program = [sys.executable, "-m", "benchmarks.waiting.compiling", str(out), *words]
    subprocess.run(program, check=True, stdout=subprocess.DEVNULL, env=os.environ | places)
    return json.loads(out.read_text())


def tell(out: Path, words: list[str]) -> None:
    """Run a command line of stickbreak here; write its processor seconds, and those of what is compiled, by name."""
    from numba.core import event

    kernels: dict[str, float] = {}
    open_since: list[list[float]] = []  # when each that is being compiled began, and what its callees took

    class Listener(event.Listener):
        """Takes the callees of a kernel, which are compiled meanwhile, out of its time."""

        def on_start(self, begun: event.Event) -> None:
            open_since.append([time.process_time(), 0.0])

        def on_end(self, ended: event.Event) -> None:
            began, of_callees = open_since.pop()
            took = time.process_time() - began
            if open_since:
                open_since[-1][1] += took
            function = ended.data["dispatcher"].py_func
            home = function.__module__.removeprefix("stickbreak.").replace("kernels.", "")
            name = f"{home}.{function.__name__}" if function.__module__.startswith("stickbreak") else "parts of Numba"
            kernels[name] = kernels.get(name, 0.0) + took - of_callees

    event.register("numba:compile", Listener())
    from stickbreak.cli import main

    sys.argv = ["stickbreak", *words]
    try:
        main()
    except SystemExit as end:
        if end.code:
            raise
    out.write_text(json.dumps({"seconds": time.process_time(), "kernels": kernels}))


if __name__ == "__main__":
    tell(Path(sys.argv[1]), sys.argv[2:])
