"""Held-out completion of `TopicModel(n_topics=K)` and tomotopy's LDA after some processor seconds and some passes.

Both start from the same alpha (5 in all) and eta (0.1) and learn alpha, each by its own rule. Ours has the average over
passes, tomotopy the topics of its last pass. Reading the documents is on the clock of ours and not on that of tomotopy.
Scores are those of the last pass before each time.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.harness.corpora import Split, load
from benchmarks.harness.ours import TOTAL_ALPHA
from benchmarks.harness.peers import ETA, TomotopyLDA
from benchmarks.harness.records import Record
from benchmarks.harness.scores import completion
from benchmarks.harness.tables import table
from benchmarks.harness.units import Answer, Float, processor_seconds
from stickbreak import TopicModel
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.fitting.engine import engine

SECONDS, PASSES = (0.3, 1.0, 2.0, 5.0, 10.0, 30.0), (10, 50, 150)
UNEVEN = 5.0  # times what the last pass took, that the next may take: which is the last before a time is not known


class Ours:
    """The laps of `TopicModel` of a given number of topics, one at a time.

    Parameters
    ----------
    corpus : Corpus
    key : dict
        "K", "seed" and "settings".
    """

    def __init__(self, corpus: Corpus, key: Record) -> None:
        self.passes, self._corpus = 0.0, corpus
        self._model = TopicModel(n_topics=key["K"], alpha=TOTAL_ALPHA, eta=ETA, **key["settings"])
        self._seed, self._laps = key["seed"], None

    def work(self) -> Iterator[float]:
        with engine(1) as executor:
            began = processor_seconds(lambda: self._begin(executor))
            laps = self._laps.laps(0)
            while True:
                seconds = processor_seconds(lambda: next(laps))
                self.passes += 1
                yield seconds + began
                began = 0.0

    def _begin(self, executor: Any) -> None:
        self._laps: Any = self._model._laps(self._corpus, self._seed, executor)
        self._laps.begin(lambda event: None, lambda: False)

    def answer(self) -> Answer:
        self._model._take(self._laps, self._corpus)
        topics = self._model.components_
        return topics / topics.sum(axis=1, keepdims=True), self._model.topic_prior_


def systems(split: Split, n_topics: int, seed: int) -> dict[str, Any]:
    """Return what is compared."""
    key = {"K": n_topics, "seed": seed}
    found: dict[str, Any] = {
        "topics": Ours(split.train, {**key, "settings": {}}),
    }
    if find_spec("tomotopy") is not None:
        found["tomotopy"] = TomotopyLDA(split.train, key, unit=1)
    return found


def course(
    split: Split, system: Any, seconds: Sequence[float], passes: Sequence[int]
) -> tuple[list[float], list[float]]:
    """Return the scores at times and after passes; what is not reached is NaN."""
    at_times, after_passes = np.full(len(seconds), np.nan), np.full(len(passes), np.nan)
    spent, before, units = 0.0, None, system.work()
    while np.isnan(at_times).any() or np.isnan(after_passes).any():
        took = next(units)
        for i in np.flatnonzero(np.isnan(at_times)):
            if spent + took > seconds[i]:
                at_times[i] = np.inf if before is None else before
        spent += took
        due = any(spent <= limit < spent + UNEVEN * took for limit in seconds)
        if due or int(system.passes) in passes:
            before = completion(split, *system.answer())
        if int(system.passes) in passes:
            after_passes[list(passes).index(int(system.passes))] = before
    units.close()
    return at_times.tolist(), after_passes.tolist()


def warm_up() -> None:
    """Do some laps on a tiny collection: compilation is not on the clock."""
    tiny = Ours(planted_lda(40, 30, n_topics=3, seed=0)[0], {"K": 4, "seed": 0, "settings": {}})
    for _, _ in zip(range(11), tiny.work(), strict=False):
        tiny.answer()


def rows(options: argparse.Namespace) -> list[dict[str, object]]:
    """Return the rows of the table."""
    found: list[dict[str, object]] = []
    warm_up()
    for name in options.corpora:
        split = load(name)
        for n_topics in options.topics:
            scores: dict[str, list[list[float]]] = {}
            for seed in range(options.seeds):
                for who, system in systems(split, n_topics, seed).items():
                    times, passes = course(split, system, options.seconds, options.passes)
                    scores.setdefault(who, []).append([*times, *passes])
                    sys.stderr.write(f"{name} {n_topics} {who} {seed} {scores[who][-1]}\n")
            heads = [*(f"{s:g} s" for s in options.seconds), *(f"{n} passes" for n in options.passes)]
            for who, of_seeds in scores.items():
                cells = {h: cell(these) for h, these in zip(heads, np.array(of_seeds).T, strict=True)}
                found.append({"corpus": name, "K": n_topics, "system": who, **cells})
    return found


def cell(scores: Float) -> str:
    """Return the mean over seeds with half the range, or that a seed had no score yet."""
    if not np.isfinite(scores).all():
        return "no score yet"
    return f"{scores.mean():.3f} ({np.ptp(scores) / 2:.3f})"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--corpora", nargs="+", default=["kos", "reuters21578"], help="corpora")
    parser.add_argument("--topics", nargs="+", type=int, default=[100], help="numbers of topics")
    parser.add_argument("--seconds", nargs="+", type=float, default=list(SECONDS), help="processor seconds")
    parser.add_argument("--passes", nargs="+", type=int, default=list(PASSES), help="passes")
    parser.add_argument("--seeds", type=int, default=3, help="runs of each")


def run(options: argparse.Namespace) -> str:
    """Return the table."""
    return table(rows(options))
