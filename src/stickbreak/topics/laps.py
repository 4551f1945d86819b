"""A fit of the default: start, passes, merges, mean.                                        docs/math (L12) to (L15)"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stickbreak.corpus import Corpus
from stickbreak.fitting.checkpoint import require, whole_number
from stickbreak.fitting.engine import workers_of
from stickbreak.fitting.executor import Executor
from stickbreak.fitting.laps import Callback, Lap, Packed, Stop
from stickbreak.model.document_labels import DocumentLabels
from stickbreak.numerics.arrays import Float
from stickbreak.numerics.streams import stream
from stickbreak.sparse_gibbs.chain import Chain, Past, Topics
from stickbreak.sparse_gibbs.priors import FIRST_LAP, Priors, best_eta, is_due
from stickbreak.sparse_gibbs.tokens import seeds_of_tokens, typical
from stickbreak.topics.labelled import LabelledChain
from stickbreak.topics.merging import Merger
from stickbreak.topics.start import n_to_begin_with, of_tokens, rough_topics

FIRST_MERGES, MERGE_EVERY = 40, 5  # passes before the first merges, and from round to round
QUIET, LAST_MERGES = 3, 200  # rounds without a merge, or passes from the start or the last halves, that end merges
APART, GROWTH = 20, 1.1  # passes in which halves come to differ; more topics than this times those before: halves again
LEAST = 142  # passes whose topics are a mean
PART, MOST_PARTS = 1 << 18, 4  # tokens of a part that a thread sweeps, at least, and parts ...
LARGEST_PART = 1 << 24  # ... unless that many tokens, which are 200 MB, would not hold a part


@dataclass(frozen=True, slots=True)
class Rules:
    """What a fit goes by.

    Parameters
    ----------
    n_topics : int or None
        None: the number is found.
    max_topics : int
    priors : Priors
        Of the topics that are known; more have none but eta.
    learn : collection of {"alpha", "eta"}
    seed : int
    labels : DocumentLabels, optional
    past : Past, optional
    first_merges : int
        The pass after which topics become one for the first time.
    splits : bool
        Whether topics are tried in halves.
    """

    n_topics: int | None
    max_topics: int
    priors: Priors
    learn: Collection[str]
    seed: int
    labels: DocumentLabels | None = None
    past: Past | None = None
    first_merges: int = FIRST_MERGES
    splits: bool = True


class TopicLaps:
    """Laps over a collection.

    Parameters
    ----------
    corpus : Corpus
        Documents of whole counts.
    rules : Rules
    executor : Executor
    scratch : Path, optional
        Where files for what belongs to tokens are made. None: in memory, or where the workers of a cluster see them.
    """

    window = Chain.window

    def __init__(self, corpus: Corpus, rules: Rules, executor: Executor, scratch: Path | None = None) -> None:
        self._corpus, self.rules, self._executor, self._scratch = corpus, rules, executor, scratch
        self.priors, self.seed = rules.priors, rules.seed
        self.started = 0  # topics at the start
        self._quiet = 0  # rounds in a row without a merge
        self._split_at = 0  # the last pass after which topics were cut in halves
        self._whole = 0  # topics before that
        self.chain: Chain

    @property
    def columns(self) -> Collection[str]:
        """Columns of a trace of these laps, beyond those of every trace."""
        return self.priors.row()

    def begin(self, report: Callback, stop: Stop) -> None:
        """Give each token one of many rough topics: a few seconds, which are neither reported nor stopped."""
        rules, corpus, n_kept = self.rules, self._corpus, self.priors.n_kept
        n = self._most - n_kept if rules.n_topics is None else rules.n_topics - n_kept
        free = rough_topics(corpus, n, rules.seed, fewer=rules.n_topics is None)
        self.started = n_kept + len(free)
        a = np.full(self.started, self.priors.alpha / self.started)
        a[: self.priors.a.size] = self.priors.a  # those that a model of before has learned
        self.priors = self.priors.with_weights(a)
        self.chain = self._chain_of(self.started)
        self.chain.begin(self._first_topics(free))

    @property
    def _most(self) -> int:
        """Number of topics that there may be, those that are known among them.                       docs/math (L12)"""
        counts, n_kept = self._corpus.counts, self.priors.n_kept
        return n_kept + n_to_begin_with(counts.nnz, self._corpus.n_documents, self.rules.max_topics - n_kept)

    def _first_topics(self, free: Float) -> Iterator[Topics]:
        """Draw the first topic of each token: near the topics that are known, or one of the free topics."""
        pseudo, chain = self.priors.pseudo, self.chain
        if pseudo is None:
            return chain.near(free)
        if self.rules.past is not None:
            return chain.near(np.vstack([of_tokens(pseudo.T.toarray(), self._corpus.n_tokens / self.started), free]))
        known = np.full((self.priors.n_kept, self._corpus.n_words), float(not len(free)))
        rng = stream(self.seed, "tokens near seeds")
        near = seeds_of_tokens(self._corpus, chain.tokens, typical(pseudo), rng)
        of_words = zip(near, chain.near(np.vstack([known, free])), strict=True)
        return (np.where(seed >= 0, seed, z).astype(np.uint16) for seed, z in of_words)

    def _chain_of(self, n_topics: int) -> Chain:
        """Return a chain of that many topics, without topics of tokens yet."""
        rules, n_tokens = self.rules, int(self._corpus.n_tokens)
        n_parts = max(1, min(n_tokens // PART, MOST_PARTS), -(-n_tokens // LARGEST_PART))
        workers, scratch = workers_of(self._executor), self._scratch
        if scratch is None and workers is not None and n_parts > 1:
            scratch = workers.scratch
        options: dict[str, Any] = {
            "n_parts": n_parts,
            "executor": self._executor,
            "past": rules.past,
            "scratch": scratch,
        }
        if rules.labels is not None:
            return LabelledChain(self._corpus, n_topics, rules.seed, rules.labels, **options)
        return Chain(self._corpus, n_topics, rules.seed, **options)

    def laps(self, done: int) -> Iterator[Lap]:
        """Yield after every lap."""
        while True:
            done += 1
            objective = self.chain.lap(done, self.priors)
            self._learn(done)
            if self._merges and done >= self._next_merges and done % MERGE_EVERY == 0:
                if self._merge(done):
                    self._split(done)
            moved = self._merges or done < LEAST if self.rules.n_topics is None else done <= FIRST_LAP
            yield Lap(objective, int((self.chain.sizes() > 0).sum()), moved, self.priors.row())

    def _learn(self, lap: int) -> None:
        """Learn the priors, where this is due.                                                 docs/math (L4), (L19)"""
        if "alpha" in self.rules.learn:
            self.priors = self.chain.with_weights(self.priors, lap)
        if "eta" in self.rules.learn and is_due(lap):
            assert not isinstance(self.priors.eta, np.ndarray)
            eta = best_eta(self.chain.last()[:, self.priors.n_kept :], self.priors.eta)
            self.priors = replace(self.priors, eta=eta)

    @property
    def _merges(self) -> bool:
        """Whether topics still become one."""
        return self.rules.n_topics is None and self._quiet < QUIET

    @property
    def _next_merges(self) -> int:
        """The pass from which on topics become one, at the start or since they were cut in halves."""
        return self._split_at + APART if self._split_at else self.rules.first_merges

    def _merge(self, lap: int) -> bool:
        """Let pairs of topics become one; return whether merges have ended."""
        part_of = self._merger.round(self.chain, self.priors, lap)
        n_topics, found = int(part_of.max()) + 1, part_of >= 0
        self._quiet = 0 if n_topics < found.sum() else self._quiet + 1
        if lap >= self._split_at + LAST_MERGES:
            self._quiet = QUIET
        if n_topics < part_of.size:
            self.chain = self.chain.merged(part_of)
            a = np.bincount(part_of[found], self.priors.a[found], n_topics).astype(np.float64)
            self.priors = self.priors.with_weights(a)
        return self._quiet >= QUIET

    def _split(self, lap: int) -> None:
        """Cut topics in halves, unless that hardly led to more the last time.                           docs/math (L20)

        Merges decide which of them differ.
        """
        K, n_kept = self.chain.n_topics, self.priors.n_kept
        room = min(K - n_kept, self._most - K)
        if not self.rules.splits or room <= 0 or K <= GROWTH * self._whole:
            return
        split = n_kept + np.sort(np.argsort(-self.chain.sizes()[n_kept:], kind="stable")[:room])
        self.chain, a = self.chain.halved(split, stream(self.seed, f"halves after lap {lap}")), self.priors.a.copy()
        a[split] /= 2.0
        self.priors = self.priors.with_weights(np.append(a, a[split]))
        self._quiet, self._split_at, self._whole = 0, lap, K

    @cached_property
    def _merger(self) -> Merger:
        n_labels = 0 if self.rules.labels is None else self.rules.labels.n_labels
        return Merger(n_labels, self.priors.n_kept, self.rules.past is not None, self.seed, self._executor)

    def snapshot(self) -> Packed:
        """Return all that the next laps depend on."""
        arrays, values = self.chain.snapshot()
        mine = {"started": self.started, "quiet": self._quiet, "split_at": self._split_at, "whole": self._whole}
        return {**arrays, "a": self.priors.a}, {**values, **self.priors.row(), **mine}

    def restore(self, arrays: Mapping[str, NDArray], values: Mapping[str, Any], done: int) -> None:
        """Take up what `snapshot` returned."""
        self.started, self._quiet = whole_number("started", values["started"]), whole_number("quiet", values["quiet"])
        self._split_at, self._whole = (whole_number(name, values[name]) for name in ("split_at", "whole"))
        n_topics, most = int(np.asarray(arrays["a"]).size), max(self.started, self.rules.max_topics)
        require(self.priors.n_kept <= n_topics <= most, "its topics are more than there may be")
        self.priors = replace(self.priors, a=np.ones(n_topics)).restored(arrays["a"], values)
        self.chain = self._chain_of(n_topics)
        self.chain.restore(arrays, values)
