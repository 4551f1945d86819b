"""One Markov chain: a representation, its concentrations and its split-merge moves, sweep after sweep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from stickbreak.corpus.sources import Source
from stickbreak.corpus.tokens import Tokens
from stickbreak.fitting.checkpoint import require, whole_number
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.hyperparameters import GammaPrior
from stickbreak.initialization import Start
from stickbreak.numerics.arrays import Float, Int32
from stickbreak.numerics.keys import key_of
from stickbreak.numerics.ranges import is_concentration
from stickbreak.numerics.stirling import StirlingRatios, stirling_ratios, wide_enough
from stickbreak.sampling.augmented import Augmented
from stickbreak.sampling.blocks import Blocks
from stickbreak.sampling.chain_state import ChainState
from stickbreak.sampling.concentrations import KnownTopics, resample
from stickbreak.sampling.counts import topic_word_table
from stickbreak.sampling.direct import DirectAssignment, draw_weights
from stickbreak.sampling.franchise import Franchise
from stickbreak.sampling.in_files import InFiles
from stickbreak.sampling.in_memory import InMemory
from stickbreak.sampling.indicator import TableIndicators
from stickbreak.sampling.joint import TablePairs, log_joint
from stickbreak.sampling.labelled import Labelled, LabelTables
from stickbreak.sampling.partially_collapsed import PartiallyCollapsed
from stickbreak.sampling.representation import Representation, Sweep
from stickbreak.sampling.requirements import DENSE, DIRECT, PARALLEL
from stickbreak.sampling.split_merge import Trials
from stickbreak.sampling.state import NO_LIMIT, Concentrations, TopicCounts

REPRESENTATIONS = ("franchise", "augmented", DIRECT, "indicator", PARALLEL)
ROOTS = ("marginal", "indicator")
SAMPLERS = ("sparse", DENSE)
_NO_TRIALS = Trials(0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class ChainSettings:
    """What does not change from sweep to sweep."""

    representation: str = "indicator"
    sampler: str = "sparse"  # of table indicators: whether draws go over the topics of a word, or over all
    root: str = "marginal"  # of table indicators: whether the topics' root indicators are summed out
    split_merge: int = 0  # trials in a sweep
    split_merge_sweeps: int | None = 50  # sweeps that have them, from the first; None: all
    scans: int = 0  # restricted Gibbs scans before the one that proposes
    subtopic_trials: int = 0  # in a sweep: splits into sub-topics, and merges
    subtopic_passes: int = 10  # in which their sides settle
    learn: tuple[str, ...] = ()
    priors: Mapping[str, GammaPrior] | None = None
    known: KnownTopics | None = None  # topics whose documents, the last ones, keep their topics
    eta: Float | None = None  # (W,)  where it is one for each word
    labels: Labelled | None = None  # of the documents, where it is direct assignment
    max_topics: int = NO_LIMIT  # that have tokens at a time
    shards: int = 1  # parts of the documents that are sampled at the same time; more than one is approximate

    @property
    def n_known(self) -> int:
        """Number of topics that are there whatever the documents say: the first ones."""
        return 0 if self.known is None else self.known.n.size


class Chain:
    """A chain at the end of a sweep: its topics are numbered 0 .. K - 1, again after each.

    Parameters
    ----------
    documents : Tokens or Blocks
        Tokens in memory, or blocks of documents whose topics are kept in files (partially collapsed).
    settings : ChainSettings
    concentrations : Concentrations
        At the start.
    seed : int
        Chains of different seeds are independent.
    source : Source, optional
        The documents as jobs name them, where shards are jobs.
    """

    def __init__(
        self,
        documents: Tokens | Blocks,
        settings: ChainSettings,
        concentrations: Concentrations,
        seed: int,
        source: Source | None = None,
    ) -> None:
        self.settings, self.concentrations, self.n_sweeps = settings, concentrations, 0
        self._seed, self._source, self._state = seed, source, _state(settings, documents)
        self._ratios: StirlingRatios = stirling_ratios(int(self._state.lengths.max(initial=1)))
        self._counts: TopicCounts
        self._pairs: TablePairs
        self._labelled: LabelTables | None

    def begin(self, init: str | Start, n_topics: int) -> None:
        """Take a start.

        Parameters
        ----------
        init : {"sequential", "random", "single"} or Start
        n_topics : int
            Of the random start.
        """
        now = self.concentrations
        self._take(self._state.begin(init, n_topics, now, self._ratios, self._seed))
        self._state.finish(self._counts, now, self._stream("corpus weights"))

    def sweep(self, executor: Engine) -> Trials:
        """Resample the state, try split-merge moves, resample the concentrations."""
        self.n_sweeps += 1
        settings, state, sweep = self.settings, self._state, self._now(executor)
        self._take(state.sweep(self._counts, sweep))
        trials = _NO_TRIALS
        if settings.split_merge and self.n_sweeps <= (settings.split_merge_sweeps or self.n_sweeps):
            rules = settings.split_merge, settings.scans
            trials = self._after(*state.split_merge(self._counts, self._now(executor), *rules))
        if settings.subtopic_trials:
            rng = self._stream("weights of sub-topics")
            beta = draw_weights(self._counts, self.concentrations.gamma, rng, self._labelled)
            rules = settings.subtopic_trials, settings.subtopic_passes
            trials = trials.plus(self._after(*state.subtopics(self._counts, beta, self._now(executor), *rules)))
        if settings.learn:
            self.concentrations = resample(
                self.concentrations,
                settings.learn,
                settings.priors or {},
                self._counts,
                state.lengths,
                self._stream("concentrations"),
                settings.known,
                self._labelled,
            )
        state.finish(self._counts, self.concentrations, self._stream("corpus weights"))
        return trials

    def _after(self, counts: TopicCounts, made: Trials) -> Trials:
        """Take the counts after trials, if one was accepted."""
        if made.splits_accepted or made.merges_accepted:
            self._take(counts)
        return made

    def _now(self, executor: Engine) -> Sweep:
        seed, rules = (self._seed, self.n_sweeps), self.settings
        return Sweep(self.concentrations, self._ratios, seed, rules.shards, executor, self._source, rules.max_topics)

    @property
    def n_topics(self) -> int:
        """Number of topics K."""
        return self._counts.n_topics

    @property
    def n_known(self) -> int:
        """Number of topics that are there whatever the documents say: the first ones."""
        return self.settings.n_known

    @property
    def n_tokens(self) -> int:
        """Number of tokens N."""
        return self._state.n_tokens

    @property
    def n_tables(self) -> int:
        """Number of tables M."""
        return int(self._counts.m[: self.n_topics].sum())

    @property
    def topics(self) -> Int32:
        """Topic z of each token, (N,), document by document and word by word; later sweeps do not change it."""
        return self._state.topics()

    @property
    def tables(self) -> Float:
        """Tables of each topic M_k, (K,); those of a label as many as give it its expected weight.  math.md (G16)"""
        m = self._counts.m[: self.n_topics]
        return m.astype(np.float64) if self._labelled is None else self._labelled.tables(m, self.concentrations.gamma)

    def topic_word_counts(self) -> sparse.csr_array:
        """Return n_kw, (K, W)."""
        return topic_word_table(self._counts)

    def log_joint(self) -> float:
        """Return log p(x, z, m | alpha, gamma, eta) in nats.                                math.md (G1)"""
        now = self.concentrations
        return log_joint(
            self._pairs, self._state.lengths, self._counts, now, self._ratios, self.settings.known, self._labelled
        )

    def snapshot(self) -> tuple[dict[str, NDArray], dict[str, Any]]:
        """Return arrays and plain values that all further sweeps depend on."""
        values = {"n_sweeps": self.n_sweeps, "n_topics": self.n_topics, "concentrations": self.concentrations.numbers()}
        return self._state.arrays(), values

    def restore(self, arrays: Mapping[str, NDArray], values: Mapping[str, Any]) -> None:
        """Take up what `snapshot` returned.

        Raises
        ------
        ValueError
            If it cannot be of these tokens.
        """
        numbers = {name: float(value) for name, value in values["concentrations"].items()}
        require(all(map(is_concentration, numbers.values())), "its concentrations are out of their range")
        now = replace(self.concentrations, **numbers)
        n_topics = whole_number("n_topics", values["n_topics"])
        most = min(self.n_tokens + self.settings.n_known, self.settings.max_topics)
        require(0 <= n_topics <= most, "its number of topics cannot be")
        self._take(self._state.restore(arrays, n_topics))
        self.concentrations, self.n_sweeps = now, whole_number("n_sweeps", values["n_sweeps"])

    def _take(self, counts: TopicCounts) -> None:
        self._counts, self._pairs, self._labelled = counts, self._state.pairs(), self._state.label_tables()
        self._ratios = wide_enough(self._ratios, self._pairs.most_tables)

    def _stream(self, purpose: str) -> np.random.Generator:
        return np.random.Generator(np.random.Philox(key=int(key_of(self._seed, self.n_sweeps, purpose))))


def _state(settings: ChainSettings, documents: Tokens | Blocks) -> ChainState:
    if isinstance(documents, Blocks):
        return InFiles(documents)
    return InMemory(documents, _representation(settings, documents), settings.labels, settings.max_topics)


def _representation(settings: ChainSettings, tokens: Tokens) -> Representation:
    if settings.representation == "franchise":
        return Franchise(tokens)
    if settings.representation == "augmented":
        return Augmented(tokens)
    if settings.representation == DIRECT:
        return DirectAssignment(tokens, settings.labels)
    if settings.representation == PARALLEL:
        return PartiallyCollapsed(tokens)
    return TableIndicators(tokens, root=settings.root == "indicator", dense=settings.sampler == DENSE)
