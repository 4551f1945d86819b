"""Held-out completion of the default against processor seconds: as it begins, with samples first, and without.

Short documents begin with topics of words beside a word (math.md (C25)), and so do long ones (math.md (C26)); the
largest collections begin with samples of the documents.

Each fit has a process of its own and one thread. It is scored between passes; the scores take no part in the seconds.
Completion is that of one fixed point for all systems of the harness.
"""

from __future__ import annotations

import argparse
import contextlib
import time
from pathlib import Path
from unittest.mock import patch

from stickbreak.collapsed import growing, plans, short_start
from stickbreak.collapsed.cvb0 import corpus_weights
from stickbreak.collapsed.laps import CollapsedLaps
from stickbreak.collapsed.state import Priors

from benchmarks.harness import scores
from benchmarks.harness.corpora import Split, load_split, splits
from benchmarks.harness.processes import apart
from benchmarks.harness.records import Record
from benchmarks.harness.tables import table
from benchmarks.large.fits import prepared
from stickbreak import LDA, CollapsedHDP
from stickbreak.corpus import open_corpus
from stickbreak.fitting.alive import alive
from stickbreak.fitting.laps import Callback, Stop
from stickbreak.numerics.arrays import Float

BEGIN = CollapsedLaps.begin
NO_SAMPLES, NEVER = (lambda n_counts, sampling: []), 1 << 62  # stored counts
WAYS = {  # what says the samples, and whether collections begin with words beside a word
    "as it begins": (growing.samples, True),
    "with samples": (growing.samples, False),
    "without": (NO_SAMPLES, False),
}


class Watched:
    """A fit that is scored at the first pass after each of some processor seconds, and ends after the last."""

    def __init__(self, split: Split, at: list[float]) -> None:
        self.found: list[Record] = []
        self._split, self._due, self._began, self._apart = split, list(at), time.process_time(), 0.0
        self._laps: CollapsedLaps

    def begin(self, laps: CollapsedLaps, report: Callback, stop: Stop) -> None:
        """Note the laps as they begin."""
        self._laps = laps
        BEGIN(laps, report, stop)

    def _now(self) -> tuple[Float, Float, Priors]:
        """Return the counts of words in topics (W, K), the weights of topics (K,), and the priors."""
        laps = self._laps
        if laps.forming is not None:
            topics = laps.finish()
            return topics.counts, corpus_weights(topics.tables, laps.priors.gamma), laps.priors
        mean = laps.ending.mean
        if laps.ending.sampled and mean is not None and mean.n:
            return mean.counts(), mean.corpus_weights(laps.priors.gamma), laps.priors
        return laps.state.S, laps.state.beta, laps.priors

    def event(self, row: Record) -> None:
        """Score, if it is time."""
        now = time.process_time() - self._began - self._apart
        if "lap" not in row or now < self._due[0]:
            return
        before = time.process_time()
        S, beta, priors = self._now()
        k = alive(S.sum(axis=0))
        counts = S[:, k].T + priors.eta
        topics = counts / counts.sum(axis=1, keepdims=True)
        score = scores.completion(self._split, topics, priors.alpha * beta[k])
        self.found.append({"at": self._due.pop(0), "pass": row["lap"], "topics": k.size, "completion": score})
        while self._due and self._due[0] <= now:
            self._due.pop(0)
        self._apart += time.process_time() - before
        if not self._due:
            raise KeyboardInterrupt


def split_of(name: str, place: Path) -> Split:
    """Return the documents to learn from and those held out: a split of the harness, or a large collection."""
    if name in splits():
        return load_split(name)
    folder = Path(prepared(name, place)["folder"])
    train, held = open_corpus(folder / "train"), open_corpus(folder / "held")
    return Split(name, train, *held.halves(seed=0))


def course(key: Record) -> list[Record]:
    """Return the scores of a fit."""
    split = split_of(key["name"], key["place"])
    for warm in (CollapsedHDP(n_laps=30, random_state=0), LDA(n_topics=5, n_laps=10, random_state=0)):
        warm.fit(split.train[:300])  # compiles
    watched = Watched(split, key["at"])
    samples, beside = WAYS[key["way"]]
    least, most = (short_start.LEAST, plans.MOST) if beside else (NEVER, 0)
    with (
        patch.object(growing, "samples", samples),
        patch.object(short_start, "LEAST", least),
        patch.object(plans, "MOST", most),
        patch.object(CollapsedLaps, "begin", lambda *given: watched.begin(*given)),
    ):
        with contextlib.suppress(KeyboardInterrupt):
            CollapsedHDP(random_state=key["seed"]).fit(split.train, callback=watched.event)
    return watched.found


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--corpora", nargs="+", default=["package_summaries", "rfc"], help="names, splits, or corpus folders"
    )
    parser.add_argument("--at", nargs="+", type=float, default=[30, 60, 120, 240, 480], help="processor seconds")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--place", type=Path, default=Path("benchmarks/results/large"), help="folder of the counts")


def run(options: argparse.Namespace) -> str:
    """Return the table: the score of the first pass that ends after so many seconds, and its topics."""
    rows = []
    for name in options.corpora:
        for way in WAYS:
            shared = {"name": name, "place": options.place, "seed": options.seed}
            found = apart(course, {**shared, "way": way, "at": sorted(options.at)})
            told = {each["at"]: f"{each['completion']:.3f} ({each['topics']})" for each in found}
            rows.append({"corpus": Path(name).name, "": way, **{f"{at:g} s": told.get(at, "") for at in options.at}})
    return table(rows)
