"""Write faults: every call that a save, a checkpoint or a report makes of the system fails once.

What was there stays as it was and nothing is left beside it, or the write succeeds; a failure is a WriteError. Further:
two writers on one path, and places that cannot be written to.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import stickbreak
from fuzz.forks import Ended, child, together
from fuzz.injection import ERRORS, Calls, failing, watched
from fuzz.models import FITS, Model, digest, documents
from stickbreak.corpus import Corpus
from stickbreak.exceptions import WriteError

_NOBODY = 65534  # the user without rights, on most systems
_LEAST = (
    5  # times that each of two writers and their reader work, also where the machine is so busy that the time is over
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this mode."""
    parser.add_argument("--seed", type=int, default=0, help="of which errors are tried")
    parser.add_argument("--every-error", action="store_true", help="all errors at every call, not one of them")
    parser.add_argument("--seconds", type=float, default=10.0, help="that two writers share a path")
    parser.add_argument("--only", help="one kind of output alone: " + ", ".join(outputs()))


def run(arguments: argparse.Namespace) -> int:
    """Try all faults, print a table; return the number of failures."""
    chosen = outputs() if arguments.only is None else {arguments.only: outputs()[arguments.only]}
    problems: list[str] = []
    print(f"{'output':<46} {'calls':>6} {'faults':>7} {'refused':>8} {'written':>8}")
    for name, output in chosen.items():
        found = tried(output(), random.Random(arguments.seed), all_errors=arguments.every_error)
        print(
            f"{name:<46} {found.counts['calls']:>6} {found.counts['faults']:>7} "
            f"{found.counts['refused']:>8} {found.counts['written']:>8}"
        )
        problems += [f"{name}: {problem}" for problem in found.problems]
    if arguments.only is None:
        for kind in ("folder", "file"):
            writes, reads, wrong = two_writers(kind, arguments.seconds)
            print(f"two writers of one {kind}: {writes} writes, {reads} reads of a whole one, {len(wrong)} failures")
            problems += wrong
        wrong = read_only()
        print(f"read-only folder: {len(wrong)} failures")
        problems += wrong
    for problem in problems:
        print("FAILED", problem)
    return len(problems)


@dataclass(frozen=True)
class Output:
    """Something that is written: `prepare` puts the old one there, `write` the new one, `whole` reads what is there."""

    prepare: Callable[[Path], Any]
    write: Callable[[Path], Any]
    whole: Callable[[Path], bool]


@dataclass
class Found:
    """What came of the faults of an output."""

    counts: Counter[str]
    problems: list[str]


def tried(output: Output, rng: random.Random, *, all_errors: bool = False) -> Found:
    """Fail each call of a write once, and look at what is there."""
    counts: Counter[str] = Counter()
    problems = []
    with tempfile.TemporaryDirectory(prefix="faults-") as name:
        folder = Path(name)
        output.prepare(folder)
        old = content(folder)
        with watched(Calls()) as calls:
            output.write(folder)
        new, counts["calls"] = content(folder), len(calls.names)
        for at, call in enumerate(calls.names):
            for error in ERRORS if all_errors else [rng.choice(ERRORS)]:
                _restore(folder, old)
                counts["faults"] += 1
                where = f"call {at} ({call}) fails with {os.strerror(error)!r}"
                try:
                    with watched(Calls(at, failing(error))):
                        output.write(folder)
                except WriteError as told:
                    counts["refused"] += 1
                    if not str(told).startswith("cannot write ") or ": " not in str(told):
                        problems.append(f"{where}: no sentence: {told}")
                    if content(folder) != old:
                        problems.append(f"{where}: WriteError, but the old state has changed: {_names(folder)}")
                except BaseException as raised:
                    problems.append(f"{where}: {type(raised).__name__}: {raised}")
                else:
                    counts["written"] += 1
                    if content(folder).keys() != new.keys() or not output.whole(folder):
                        problems.append(f"{where}: no error, but not the new state: {_names(folder)}")
    return Found(counts, problems)


def content(folder: Path) -> dict[str, bytes | None]:
    """Return all files below a folder and what they hold; None for folders."""
    found = sorted(folder.rglob("*"))
    return {str(path.relative_to(folder)): None if path.is_dir() else path.read_bytes() for path in found}


def _names(folder: Path) -> list[str]:
    return sorted(content(folder))


def _restore(folder: Path, old: dict[str, bytes | None]) -> None:
    """Put back what was there before."""
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    for name, data in old.items():
        if data is None:
            (folder / name).mkdir()
        else:
            (folder / name).write_bytes(data)


def outputs() -> dict[str, Callable[[], Output]]:
    """Return all that is written, by name; each is made when it is asked for."""
    saves = {f"save {name}": (lambda name=name: _save(name)) for name in FITS}
    checkpoints = {f"checkpoint {name}": (lambda name=name: _checkpoint(name)) for name in FITS}
    files = {f"weights {ending}": (lambda ending=ending: _weights(ending)) for ending in ("csv", "jsonl", "npz")}
    return {
        **saves, **checkpoints, **files, "weights parquet": lambda: _weights("parquet"), "report": _report,
        "corpus": _corpus_folder, "command": _job,
    }  # fmt: skip


def _fitted(name: str, less: int = 0) -> Model:
    """Fit, with some laps less than the fit has."""
    return FITS[name].model(FITS[name].n - less).fit(FITS[name].documents())


def _words() -> Corpus:
    corpus = documents("words")
    assert isinstance(corpus, Corpus)
    return corpus


def _save(name: str) -> Output:
    old, new, data = _fitted(name, less=1), _fitted(name), FITS[name].documents()
    expected = digest(new, data)
    return Output(
        lambda folder: old.save(folder / "m"),
        lambda folder: new.save(folder / "m", overwrite=True),
        lambda folder: digest(stickbreak.load(folder / "m"), data) == expected,
    )


def _checkpoint(name: str) -> Output:
    """One more lap after those of a checkpoint."""
    fit, data = FITS[name], FITS[name].documents()
    place = "ck"

    def write(folder: Path) -> Model:
        return fit.model().fit(data, checkpoint=folder / place, resume=True)

    expected = digest(_fitted(name), data)
    return Output(
        lambda folder: fit.model(fit.n - 1).fit(data, checkpoint=folder / place),
        write,
        lambda folder: digest(write(folder), data) == expected,
    )


def _weights(ending: str) -> Output:
    from stickbreak.cli.tables import document_weights, write_weights

    model, name = _fitted("topics"), f"weights.{ending}"
    return Output(
        lambda folder: (folder / name).write_bytes(b"old"),
        lambda folder: write_weights(document_weights(model, _words()), folder / name),
        lambda folder: len((folder / name).read_bytes()) > 1000,
    )


def _report() -> Output:
    from stickbreak.report import build_report, write_report

    data = build_report(_fitted("topics"), _words())
    return Output(
        lambda folder: (folder / "report.html").write_text("old"),
        lambda folder: write_report(data, folder / "report.html"),
        lambda folder: (folder / "report.html").read_text(encoding="utf-8").rstrip().endswith("</html>"),
    )


def _corpus_folder() -> Output:
    from stickbreak.corpus import open_corpus, write_corpus

    new = _words()
    return Output(
        lambda folder: write_corpus(new[:5], folder / "corpus"),
        lambda folder: write_corpus(new, folder / "corpus", overwrite=True),
        lambda folder: open_corpus(folder / "corpus").n_documents == new.n_documents,
    )


def _job() -> Output:
    """`stickbreak fit --force`, from the fitted model to the report inside its folder."""
    from stickbreak.cli.documents import Documents
    from stickbreak.cli.job import FitJob

    def job(folder: Path, n_laps: int) -> None:
        parameters = {"n_topics": 5, "n_laps": n_laps, "random_state": 3}
        work = FitJob(folder / "m", None, parameters, force=True, quiet=True)
        work.run(Documents(_words()))

    return Output(
        lambda folder: job(folder, 2),
        lambda folder: job(folder, 3),
        lambda folder: stickbreak.load(folder / "m").n_laps_ == 3,
    )


def two_writers(kind: str, seconds: float) -> tuple[int, int, list[str]]:
    """Let two processes write one path; return the writes, the reads in between, and what went wrong."""
    from stickbreak.storage.atomic import replace_file
    from stickbreak.storage.persistence import read_folder, write_folder

    with tempfile.TemporaryDirectory(prefix="writers-") as name:
        place = Path(name) / "m"

        def write(value: int) -> None:
            array = np.full(1000, float(value))
            if kind == "folder":
                write_folder(place, kind="example", arrays={"x": array}, meta={"value": value}, overwrite=True)
                return
            with replace_file(place) as temporary:
                temporary.write_bytes(array.tobytes())

        def read() -> bool:
            if kind == "file":
                return bool(np.ptp(np.frombuffer(place.read_bytes())) == 0)
            arrays, meta = read_folder(place)
            return bool((arrays["x"] == meta["value"]).all())

        write(0)
        ends = time.monotonic() + seconds
        ended = together(
            lambda: _repeated(lambda i: write(2 * i), ends),
            lambda: _repeated(lambda i: write(2 * i + 1), ends),
            lambda: _repeated(lambda i: read(), ends),
        )
        wrong = [f"two writers of one {kind}: {each.how}: {each.value}" for each in ended if each.how != "done"]
        if os.listdir(name) != ["m"] or not read():
            wrong.append(f"two writers of one {kind}: left {os.listdir(name)}")
        done = [each.value if each.how == "done" else 0 for each in ended]
        return done[0] + done[1], done[2], wrong


def _repeated(work: Callable[[int], Any], ends: float) -> int:
    """Work until the time is over, and a few times on a busy machine; return how often."""
    i = 0
    while i < _LEAST or time.monotonic() < ends:
        if work(i) is False:
            raise ValueError("what was read is a mixture")
        i += 1
    return i


def read_only() -> list[str]:
    """Save into a folder that this user may not write to, and read from it; return what went wrong."""
    model, data = _fitted("topics"), documents("words")
    expected = digest(model, data)
    with tempfile.TemporaryDirectory(prefix="read-only-") as name:
        folder = Path(name)
        model.save(folder / "m")
        folder.chmod(0o555)
        try:
            return list(_read_only(model, data, folder, expected))
        finally:
            folder.chmod(0o755)


def _read_only(model: Model, data: Any, folder: Path, expected: str) -> Iterator[str]:
    def alone(work: Callable[[], Any]) -> Ended:
        def as_nobody() -> Any:
            if os.geteuid() == 0:
                os.setegid(_NOBODY)
                os.seteuid(_NOBODY)
            return work()

        return child(as_nobody)

    for overwrite, target in ((True, "m"), (False, "other")):
        ended = alone(lambda target=target, overwrite=overwrite: model.save(folder / target, overwrite=overwrite))
        if ended.how != "refused" or "permission denied" not in ended.value:
            yield f"save to {target} in a read-only folder: {ended}"
    ended = alone(lambda: digest(stickbreak.load(folder / "m"), data))
    if ended != Ended("done", expected):
        yield f"load from a read-only folder: {ended}"
    if os.listdir(folder) != ["m"]:
        yield f"left in a read-only folder: {os.listdir(folder)}"
