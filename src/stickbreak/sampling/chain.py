"""One Markov chain: a representation, its concentrations and its split-merge moves, sweep after sweep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from stickbreak.corpus.sources import Source
from stickbreak.corpus.tokens import Tokens
from stickbreak.fitting.checkpoint import whole_number
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.hyperparameters import GammaPrior
from stickbreak.initialization import Start
from stickbreak.numerics.arrays import Int, Int32
from stickbreak.numerics.keys import key_of
from stickbreak.numerics.ranges import is_concentration
from stickbreak.numerics.stirling import StirlingRatios, stirling_ratios, wide_enough
from stickbreak.sampling.concentrations import resample
from stickbreak.sampling.counts import count_topics, dense_labels, topic_word_table
from stickbreak.sampling.direct import DirectAssignment, draw_weights
from stickbreak.sampling.franchise import Franchise, table_list, with_dishes
from stickbreak.sampling.indicator import TableIndicators
from stickbreak.sampling.joint import log_joint
from stickbreak.sampling.partially_collapsed import PartiallyCollapsed
from stickbreak.sampling.representation import Representation, Sweep, require
from stickbreak.sampling.split_merge import Trials, split_merge
from stickbreak.sampling.starts import seated, start_seating
from stickbreak.sampling.state import Concentrations, TopicCounts
from stickbreak.sampling.subtopics import subtopic_trials

PARALLEL = "partially-collapsed"
REPRESENTATIONS = ("franchise", "direct", "indicator", PARALLEL)
ROOTS = ("marginal", "indicator")
_NO_TRIALS = Trials(0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class ChainSettings:
    """What does not change from sweep to sweep."""

    representation: str = "indicator"
    root: str = "marginal"  # of table indicators: whether the topics' root indicators are summed out
    split_merge: int = 0  # trials in a sweep
    split_merge_sweeps: int | None = 50  # sweeps that have them, from the first; None: all
    scans: int = 0  # restricted Gibbs scans before the one that proposes
    subtopic_trials: int = 0  # in a sweep: splits into sub-topics, and merges
    subtopic_passes: int = 10  # in which their sides settle
    learn: tuple[str, ...] = ()
    priors: Mapping[str, GammaPrior] | None = None
    shards: int = 1  # parts of the documents that are sampled at the same time; more than one is approximate


class Chain:
    """A chain at the end of a sweep: its topics are numbered 0 .. K - 1, again after each.

    Parameters
    ----------
    tokens : Tokens
    settings : ChainSettings
    concentrations : Concentrations
        At the start.
    seed : int
        Chains of different seeds are independent.
    source : Source, optional
        The documents as jobs name them; None: no part of the chain travels.
    """

    def __init__(
        self,
        tokens: Tokens,
        settings: ChainSettings,
        concentrations: Concentrations,
        seed: int,
        source: Source | None = None,
    ) -> None:
        self.settings, self.concentrations, self.n_sweeps = settings, concentrations, 0
        self._tokens, self._seed = tokens, seed
        self._state = _representation(settings, tokens, source)
        self._ratios: StirlingRatios = stirling_ratios(int(tokens.lengths.max(initial=1)))
        self._counts: TopicCounts

    def begin(self, init: str | Start, n_topics: int) -> None:
        """Take a start.

        Parameters
        ----------
        init : {"sequential", "random", "single"} or Start
        n_topics : int
            Of the random start.
        """
        now, seed = self.concentrations, self._seed
        n_topics, seating = start_seating(init, n_topics, self._tokens, now, self._ratios, seed)
        self._state.take(seating, n_topics)
        self._count(n_topics)
        self._state.finish(self._counts, now, self._stream("corpus weights"))

    def sweep(self, executor: Engine) -> Trials:
        """Resample the state, try split-merge moves, resample the concentrations."""
        self.n_sweeps += 1
        settings, now, seed = self.settings, self.concentrations, (self._seed, self.n_sweeps)
        self._take(self._state.sweep(self._counts, Sweep(now, self._ratios, seed, settings.shards, executor)))
        trials = _NO_TRIALS
        if settings.split_merge and self.n_sweeps <= (settings.split_merge_sweeps or self.n_sweeps):
            trials = self._split_merge(seed)
        if settings.subtopic_trials:
            trials = trials.plus(self._subtopics(seed))
        self.concentrations = resample(
            now,
            settings.learn,
            settings.priors or {},
            self._counts,
            self._tokens.lengths,
            self._stream("concentrations"),
        )
        self._state.finish(self._counts, self.concentrations, self._stream("corpus weights"))
        return trials

    def _split_merge(self, seed: tuple[int, int]) -> Trials:
        """Try to split and merge topics, by their tables."""
        settings, now = self.settings, self.concentrations
        seating = self._state.seats(self._ratios, key_of(*seed, "seats"))
        tables = table_list(self._tokens, seating)
        n_topics, trials = split_merge(
            tables,
            self.n_topics,
            gamma=now.gamma,
            eta=now.eta,
            n_words=self._tokens.n_words,
            trials=settings.split_merge,
            scans=settings.scans,
            key=int(key_of(*seed, "split-merge")) >> 1,  # 63 bits: kernels take a signed number
        )
        if trials.splits_accepted or trials.merges_accepted:
            self._state.take(with_dishes(self._tokens, seating, tables.topic), n_topics)
            self._count(n_topics)
        return trials

    def _subtopics(self, seed: tuple[int, int]) -> Trials:
        """Try to split topics into sub-topics and to merge topics, by their tokens under drawn corpus weights."""
        settings, now, z = self.settings, self.concentrations, self._state.z.copy()
        n_topics, beta, trials = subtopic_trials(
            self._tokens,
            z,
            self._counts,
            draw_weights(self._counts, now.gamma, self._stream("weights of sub-topics")),
            now,
            trials=settings.subtopic_trials,
            passes=settings.subtopic_passes,
            key=int(key_of(*seed, "sub-topics")) >> 1,
        )
        if trials.splits_accepted or trials.merges_accepted:
            keys = key_of(*seed, "tables of sub-topics"), key_of(*seed, "seats of sub-topics")
            seating = seated(z, beta[:-1], self._tokens, now, self._ratios, *keys)[1]
            self._state.take(seating, n_topics)
            self._count(n_topics)
        return trials

    @property
    def n_topics(self) -> int:
        """Number of topics K."""
        return self._counts.n_topics

    @property
    def n_tokens(self) -> int:
        """Number of tokens N."""
        return int(self._tokens.word.size)

    @property
    def n_tables(self) -> int:
        """Number of tables M."""
        return int(self.tables.sum())

    @property
    def topics(self) -> Int32:
        """Topic z of each token, (N,), in the order of `Tokens`."""
        return self._state.z

    @property
    def tables(self) -> Int:
        """Tables of each topic M_k, (K,)."""
        return self._counts.m

    def topic_word_counts(self) -> sparse.csr_array:
        """Return n_kw, (K, W)."""
        return topic_word_table(self._counts)

    def log_joint(self) -> float:
        """Return log p(x, z, m | alpha, gamma, eta) in nats.                                math.md (G1)"""
        return log_joint(self._tokens, self._state.documents, self._counts, self.concentrations, self._ratios)

    def snapshot(self) -> tuple[dict[str, NDArray], dict[str, Any]]:
        """Return arrays and plain values that all further sweeps depend on."""
        values = {"n_sweeps": self.n_sweeps, "n_topics": self.n_topics, "concentrations": asdict(self.concentrations)}
        return self._state.arrays(), values

    def restore(self, arrays: Mapping[str, NDArray], values: Mapping[str, Any]) -> None:
        """Take up what `snapshot` returned.

        Raises
        ------
        ValueError
            If it cannot be of these tokens.
        """
        now = Concentrations(**{name: float(value) for name, value in values["concentrations"].items()})
        require(all(map(is_concentration, asdict(now).values())), "its concentrations are out of their range")
        n_topics = whole_number("n_topics", values["n_topics"])
        require(0 <= n_topics <= self._tokens.word.size, "its number of topics cannot be")
        self._state.restore(arrays, n_topics)
        require(dense_labels(self._state.z, n_topics)[1].size == n_topics, "a topic has no token")
        self.concentrations, self.n_sweeps = now, whole_number("n_sweeps", values["n_sweeps"])
        self._count(n_topics)

    def _count(self, n_topics: int) -> None:
        self._take(count_topics(self._tokens, self._state.z, self._state.documents, n_topics))

    def _take(self, counts: TopicCounts) -> None:
        self._counts = counts
        self._ratios = wide_enough(self._ratios, self._state.most_tables())

    def _stream(self, purpose: str) -> np.random.Generator:
        return np.random.Generator(np.random.Philox(key=int(key_of(self._seed, self.n_sweeps, purpose))))


def _representation(settings: ChainSettings, tokens: Tokens, source: Source | None) -> Representation:
    if settings.representation == "franchise":
        return Franchise(tokens)
    if settings.representation == "direct":
        return DirectAssignment(tokens)
    if settings.representation == PARALLEL:
        return PartiallyCollapsed(tokens, source)
    return TableIndicators(tokens, root=settings.root == "indicator")
