"""Odd numbers: nonsense for each parameter and argument, each range at its ends, large sizes. Finite or refused."""

from __future__ import annotations

import argparse
import math
import os
import random
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils._param_validation import InvalidParameterError

from fuzz.children import Children, Limits
from fuzz.models import FITS, Fit, Model
from fuzz.odd_values import SMALL, Nonsense, ends, of_arguments, of_parameters
from fuzz.outcomes import RESULT, Outcome
from fuzz.soundness import check, check_life
from stickbreak.corpus import Corpus
from stickbreak.exceptions import StickbreakError

GROUPS = ("parameters", "arguments", "ends", "pairs", "sizes")
PROGRESS = 60.0  # seconds between two lines about where the run is
SHOWN = 8  # slowest and largest cases in the table
SECONDS = {"sizes": 900.0, "ends": 120.0, "pairs": 120.0}
QUICK = 60.0  # seconds of the other cases
MEMORY = 4 << 30  # bytes of a case
SKLEARN = "sklearn/utils/"
TAKES_TIME = {
    "n_laps", "init_sweeps", "local_sweeps", "n_chains", "subtopic_trials", "split_merge_trials", "split_merge_scans",
    "burn_in_sweeps", "saved_sweeps", "stage_sweeps", "restarts",
}  # fmt: skip
"""What is as long as it is asked for: not tried at the upper end."""
PRIORS = ("alpha", "gamma", "eta")


@dataclass(frozen=True)
class Case:
    """Something to try; a name that repeats it."""

    group: str
    name: str
    run: Callable[[], Any]


class Refused(StickbreakError):
    """A refusal in the words of scikit-learn."""


@dataclass(frozen=True)
class _Calls:
    """The trials of cases: number n is case n."""

    cases: Sequence[Case]

    def good(self) -> Iterable[Case]:
        """Give nothing: cases are of any kind."""
        return ()

    def make(self, number: int) -> Case:
        """Return a case."""
        return self.cases[number]

    def attempt(self, given: Case, folder: Path) -> None:
        """Run a case in its folder."""
        os.chdir(folder)
        try:
            given.run()
        except StickbreakError:
            raise
        except (InvalidParameterError, NotFittedError) as error:
            raise Refused(str(error)) from None
        except (ValueError, TypeError) as error:
            if SKLEARN in traceback.extract_tb(error.__traceback__)[-1].filename:
                raise Refused(str(error)) from None  # its words for what cannot be a table of numbers
            raise


def outcomes(cases: Sequence[Case], workers: int = 1) -> Generator[tuple[Case, Outcome], None, None]:
    """Try cases under limits of memory and time."""
    for group in GROUPS:
        numbers = [number for number, case in enumerate(cases) if case.group == group]
        limits = Limits(MEMORY, SECONDS.get(group, QUICK))
        for outcome in Children(_Calls(cases), limits, workers).run(numbers):
            yield cases[outcome.number], outcome


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this mode."""
    parser.add_argument("--only", default="", metavar="NAME", help="cases whose name holds this")
    parser.add_argument("--seed", type=int, default=0, help="of the order, and of the share that is tried")
    parser.add_argument("--workers", type=int, default=1, help="cases at a time")
    parser.add_argument("--share", type=float, default=1.0, help="share of the cases that are tried")
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin no further case after this time")


def run(arguments: argparse.Namespace) -> int:
    """Try the cases; print failures as they come, the counts of a group at its end. Return the number of failures."""
    chosen = [case for case in cases() if arguments.only in case.name]
    rng = random.Random(arguments.seed)
    chosen = [case for case in chosen if rng.random() < arguments.share]
    found: list[tuple[Case, Outcome]] = []
    started = told = time.monotonic()
    try:
        with closing(outcomes(chosen, arguments.workers)) as coming:
            for case, outcome in coming:
                if found and case.group != found[-1][0].group:
                    _say(counts(found, found[-1][0].group))
                found.append((case, outcome))
                if outcome.failed:
                    _say(f"FAILED {case.name!r}: {outcome.kind}: {outcome.text}")
                if time.monotonic() - told > PROGRESS:
                    told = time.monotonic()
                    print(f"{len(found):,} of {len(chosen):,} cases", file=sys.stderr, flush=True)
                if time.monotonic() - started > arguments.seconds:
                    break
    finally:  # after Ctrl-C, too
        if found:
            _say(counts(found, found[-1][0].group))
            _say(extremes(found))
        _say(f"{len(found):,} of {len(chosen):,} cases in {time.monotonic() - started:.0f} s")
    return sum(outcome.failed for _, outcome in found)


def _say(text: str) -> None:
    print(text.encode(errors="backslashreplace").decode(), flush=True)


def counts(found: list[tuple[Case, Outcome]], group: str) -> str:
    """Return how often each kind of outcome came in a group."""
    kinds = Counter(outcome.kind for case, outcome in found if case.group == group)
    return "\n".join(f"{group:12} {kind:10} {n:6}" for kind, n in sorted(kinds.items()))


def extremes(found: list[tuple[Case, Outcome]]) -> str:
    """Return the slowest and the largest cases that were accepted."""
    sound, lines = [(case, outcome) for case, outcome in found if outcome.kind == RESULT], []
    for title, key in (("slowest", lambda o: o.seconds), ("largest", lambda o: o.grown)):
        lines.append(f"{title} accepted: seconds, GiB")
        for case, outcome in sorted(sound, key=lambda pair: -key(pair[1]))[:SHOWN]:
            lines.append(f"  {outcome.seconds:8.1f} {outcome.grown / 2**30:6.2f}  {case.name}")
    return "\n".join(lines)


def cases() -> Iterator[Case]:
    """Yield all cases."""
    yield from map(of_parameter, of_parameters())
    fitted = {estimator: FITS[name].model().fit(FITS[name].documents()) for estimator, name in SMALL.items()}
    yield from map(of_argument, of_arguments(fitted))
    for name, fit in FITS.items():
        yield from _ends(name, fit)
        yield from _pairs(name, fit)
    yield from _sizes()


def of_parameter(odd: Nonsense) -> Case:
    """Return the case of nonsense for a parameter."""
    return Case("parameters", f"{odd.estimator}({odd.where}={odd.value})", odd.run)


def of_argument(odd: Nonsense) -> Case:
    """Return the case of nonsense for an argument of a method."""
    return Case("arguments", f"{odd.estimator}.{odd.where} = {odd.value}", odd.run)


def _ends(name: str, fit: Fit) -> Iterator[Case]:
    """Yield fits at and just outside of both ends of each range."""
    for parameter, (inside, outside) in ends(type(fit.model())).items():
        for value in inside:
            if not (parameter in TAKES_TIME and value > 1e6):
                for label, data in collections(fit):
                    yield Case("ends", f"{name}: {parameter}={value!r}, {label}", _life(fit, data, {parameter: value}))
        for value in outside:
            yield Case("ends", f"{name}: {parameter}={value!r}, outside", _outside(fit, {parameter: value}))


def _pairs(name: str, fit: Fit) -> Iterator[Case]:
    """Yield fits with two or all priors at ends of their ranges, given and learned."""
    found = {p: inside for p, (inside, _) in ends(type(fit.model())).items() if p in PRIORS}
    for size in sorted({min(2, len(found)), len(found)} - {0, 1}):
        for names in combinations(found, size):
            for which in np.ndindex(*(2,) * size):
                given = {p: found[p][i] for p, i in zip(names, which, strict=True)}
                for label, data in collections(fit):
                    yield Case("pairs", f"{name}: {given}, {label}", _life(fit, data, given))


def collections(fit: Fit) -> list[tuple[str, Any]]:
    """Return small documents: those of the fit, words that occur once in documents of one, large counts."""
    if fit.data != "words":
        return [("planted", fit.documents())]
    lone = np.zeros((8, 20), dtype=np.int64)
    lone[np.arange(8), np.arange(8)] = 1
    lone[4:, 15:] = np.arange(5)
    heavy = np.array([[2000, 0, 3], [5, 3000, 0], [0, 0, 7]])
    both = [("small", fit.documents()), ("lone words", Corpus.from_counts(lone)), ("heavy", Corpus.from_counts(heavy))]
    return both


def _life(fit: Fit, data: Any, given: dict[str, Any]) -> Callable[[], Any]:
    def run() -> None:
        laps = {} if "n_laps" in given else {"n_laps": min(fit.n, 10)}
        check_life(fit.model().set_params(**laps, **given).fit(data), data)

    return run


def _outside(fit: Fit, given: dict[str, Any]) -> Callable[[], Any]:
    def run() -> None:
        fit.model().set_params(**given).fit(fit.documents())
        raise AssertionError(f"{given} was accepted, though outside of its range")

    return run


def _sizes() -> Iterator[Case]:
    """Yield large fits: topics, words, counts, tokens of a document, small weights."""
    rng = np.random.default_rng(0)
    many = sparse.random_array((400, 300), density=0.2, rng=rng, data_sampler=lambda size: rng.integers(1, 4, size))
    wide = sparse.csr_matrix(
        (np.ones(3000, np.int64), (rng.integers(0, 50, 3000), rng.integers(0, 10**6, 3000))), (50, 10**6)
    )
    heavy = rng.integers(0, 2, (5, 6)) * 10**6
    long = np.vstack([rng.multinomial(10**6, rng.dirichlet(np.ones(500))), rng.poisson(0.2, (20, 500))])
    weighted = rng.poisson(0.8, (40, 25)) * 1e-3
    given = {"K=5,000": many, "W=1,000,000": wide, "counts of 1e6": heavy, "1e6 tokens": long, "weights 1e-3": weighted}
    for name in (
        *SMALL.values(),
        "gibbs franchise",
        "gibbs partially collapsed",
        "hybrid unbounded",
        "variational stochastic",
    ):
        fit = FITS[name]
        for label, counts in given.items():
            if fit.data == "words":
                parameters = {"n_topics": 5000} if label == "K=5,000" else {"n_topics": 1} if "weights" in label else {}
                yield Case("sizes", f"{name}: {label}", _large(fit, counts, parameters))


def _large(fit: Fit, counts: Any, parameters: dict[str, Any]) -> Callable[[], Any]:
    def run() -> None:
        model: Model = fit.model(3, **parameters) if fit.n > 3 else fit.model(**parameters)
        for name in ("burn_in", "thin", "stages"):
            if name in model.get_params(deep=False):
                model.set_params(**{name: {"burn_in": 1, "thin": 1, "stages": ()}[name]})
        corpus = Corpus.from_counts(counts)
        check(model.fit(corpus), corpus)

    return run
