"""One Markov chain: sweeps, the joint likelihood of its states, and how its concentrations are sampled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import gammaln

from stickbreak.corpus.tokens import Tokens
from stickbreak.fitting.checkpoint import require, whole_number
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.hyperparameters import LEARNABLE, GammaPrior
from stickbreak.initialization import Start
from stickbreak.model.document_labels import DocumentLabels
from stickbreak.model.seeds import WordPrior
from stickbreak.numerics.arrays import Float, Int, Int32
from stickbreak.numerics.ranges import LARGEST, SMALLEST, is_concentration, within
from stickbreak.numerics.stirling import StirlingRatios, stirling_ratios, wide_enough
from stickbreak.numerics.streams import key_of
from stickbreak.sampling.checks import DENSE, FRANCHISE, INDICATOR, PARALLEL, SPARSE
from stickbreak.sampling.kernels import counts as kernels
from stickbreak.sampling.known_topics import ChainLabels, KnownTopics, LabelTables, WordLikelihood, known_topics
from stickbreak.sampling.moves import MoveCounts, TopicTokens, TrialRules, split_merge, subtopic_trials, with_room
from stickbreak.sampling.representations import (
    Franchise,
    PartiallyCollapsed,
    Representation,
    Sweep,
    TableIndicators,
    draw_weights,
    table_list,
    with_dishes,
)
from stickbreak.sampling.starts import start_seating
from stickbreak.sampling.state import (
    NO_LIMIT,
    Concentrations,
    DocumentTopics,
    TopicCounts,
    count_topics,
    dense_labels,
    packed,
    topic_word_table,
)

_NO_TRIALS = MoveCounts(0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class ChainSettings:
    """What does not change from sweep to sweep."""

    representation: str = INDICATOR
    sampler: str = SPARSE  # of table indicators: whether draws go over the topics of a word, or over all
    split_merge: int = 0  # trials in a sweep
    split_merge_sweeps: int | None = 50  # sweeps that have them, from the first; None: all
    scans: int = 0  # restricted Gibbs scans before the one that proposes
    subtopic_trials: int = 0  # in a sweep: splits into sub-topics, and merges
    subtopic_passes: int = 10  # in which their sides settle
    learn: tuple[str, ...] = ()
    priors: Mapping[str, GammaPrior] | None = None
    known: KnownTopics | None = None  # topics whose documents, the last ones, keep their topics
    eta: Float | None = None  # (W,)  where it is one for each word
    labels: ChainLabels | None = None  # of the documents, where it is partially collapsed
    max_topics: int = NO_LIMIT  # that have tokens at a time

    @classmethod
    def of(cls, given: Any, prior: WordPrior, labels: DocumentLabels | None) -> ChainSettings:
        """Return the settings of a `GibbsHDP`; the prior is in whole tokens, and topics of labels come first in it."""
        return cls(
            representation=given.representation,
            sampler=given.sampler,
            split_merge=int(given.split_merge_trials),
            split_merge_sweeps=given.split_merge_sweeps,
            scans=int(given.split_merge_scans),
            subtopic_trials=int(given.subtopic_trials),
            subtopic_passes=int(given.subtopic_passes),
            learn=tuple(given.learn),
            priors={name: GammaPrior(*map(float, getattr(given, f"{name}_prior"))) for name in LEARNABLE},
            known=known_topics(prior),
            eta=prior.base if isinstance(prior.base, np.ndarray) else None,
            labels=None if labels is None else ChainLabels(labels),
            max_topics=NO_LIMIT if given.max_topics is None else int(given.max_topics),
        )

    @property
    def n_known(self) -> int:
        """Number of topics that are there whatever the documents say: the first ones."""
        return 0 if self.known is None else self.known.n.size


class Chain:
    """A chain at the end of a sweep: its topics are numbered 0 .. K - 1. Chains of different seeds are independent."""

    def __init__(self, tokens: Tokens, settings: ChainSettings, concentrations: Concentrations, seed: int) -> None:
        self.settings, self.concentrations, self.n_sweeps = settings, concentrations, 0
        self._seed, self._tokens, self._state = seed, tokens, _representation(settings, tokens)
        self._lengths = np.diff(tokens.sampled)
        self._ratios: StirlingRatios = stirling_ratios(int(self._lengths.max(initial=1)))
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
        now, settings = self.concentrations, self.settings
        given = init, n_topics, self._tokens, now, self._ratios, self._seed, settings.labels, settings.max_topics
        n_topics, seating = start_seating(*given)
        self._state.take(seating, n_topics)
        self._take(self._count(n_topics))
        self._state.finish(self._counts, now, self._stream("corpus weights"))

    def sweep(self, engine: Engine) -> MoveCounts:
        """Resample the state, try split-merge moves, resample the concentrations."""
        self.n_sweeps += 1
        settings = self.settings
        self._take(self._state.sweep(self._counts, self._now(engine)))
        trials = _NO_TRIALS
        if settings.split_merge and self.n_sweeps <= (settings.split_merge_sweeps or self.n_sweeps):
            trials = self._split_merge(self._now(engine))
        if settings.subtopic_trials:
            trials = trials.plus(self._subtopics(self._now(engine)))
        if settings.learn:
            self.concentrations = resample(
                self.concentrations,
                settings.learn,
                settings.priors or {},
                self._counts,
                self._lengths,
                self._stream("concentrations"),
                settings.known,
                self._labelled,
            )
        self._state.finish(self._counts, self.concentrations, self._stream("corpus weights"))
        return trials

    def _split_merge(self, now: Sweep) -> MoveCounts:
        """Try to split and merge topics, by their tables."""
        tokens, settings = self._tokens, self.settings
        seating = self._state.seats(now.ratios, now.key("seats"))
        tables = table_list(tokens, seating)
        key = int(now.key("split-merge")) >> 1  # 63 bits: kernels take a signed number
        rules = TrialRules(settings.split_merge, key, tokens.n_given, settings.max_topics)
        numbers = self.n_topics, now.concentrations, tokens.n_words
        n_topics, made = split_merge(tables, *numbers, rules, settings.scans)
        if made.any_accepted:
            self._state.take(with_dishes(tokens, seating, tables.topic), n_topics)
            self._take(self._count(n_topics))
        return made

    def _subtopics(self, now: Sweep) -> MoveCounts:
        """Try to split topics into sub-topics and to merge topics, by their tokens."""
        tokens, settings, counts, of = self._tokens, self.settings, self._counts, now.concentrations
        beta = draw_weights(counts, of.gamma, self._stream("weights of sub-topics"), self._labelled)
        n_k, labels = with_room(counts, settings.subtopic_trials), self._state.label_rows(of.alpha, beta)
        has_labels = None if settings.labels is None else np.diff(settings.labels.labels.start) > 0
        held = TopicTokens(tokens, self._state.z.copy(), n_k, counts.n_topics, has_labels)
        key = int(now.key("sub-topics")) >> 1
        rules = TrialRules(settings.subtopic_trials, key, tokens.n_given, settings.max_topics)
        passes = settings.subtopic_passes
        n_topics, beta, made = subtopic_trials(held, counts, n_k, beta, of, rules, passes=passes, scale=labels.scale)
        if made.any_accepted:
            labels = self._state.label_rows(of.alpha, beta)
            self._state.draw_tables(held.z, beta[:-1], of, labels, now.key("tables of sub-topics"))
            self._state.reseat(now.ratios, now.key("seats of sub-topics"), n_topics)
            self._take(self._count(n_topics))
        return made

    def _now(self, engine: Engine) -> Sweep:
        seed = self._seed, self.n_sweeps
        return Sweep(self.concentrations, self._ratios, seed, engine, self.settings.max_topics)

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
        return self._tokens.n_tokens

    @property
    def n_tables(self) -> int:
        """Number of tables M."""
        return int(self._counts.m[: self.n_topics].sum())

    @property
    def topics(self) -> Int32:
        """Topic z of each token, (N,), document by document and word by word; later sweeps do not change it."""
        return self._state.z[: self.n_tokens].copy()

    @property
    def tables(self) -> Float:
        """Tables of each topic M_k, (K,); those of a label as many as give it its expected weight.  docs/math (G16)"""
        m = self._counts.m[: self.n_topics]
        return m.astype(np.float64) if self._labelled is None else self._labelled.tables(m, self.concentrations.gamma)

    def topic_word_counts(self) -> sparse.csr_array:
        """Return n_kw, (K, W)."""
        return topic_word_table(self._counts)

    def log_joint(self) -> float:
        """Return log p(x, z, m | alpha, gamma, eta) in nats.                                docs/math (G1)"""
        now = self.concentrations
        return log_joint(
            self._pairs, self._lengths, self._counts, now, self._ratios, self.settings.known, self._labelled
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
        now = self.concentrations._replace(**numbers)
        n_topics = whole_number("n_topics", values["n_topics"])
        most = min(self.n_tokens + self.settings.n_known, self.settings.max_topics)
        require(0 <= n_topics <= most, "its number of topics cannot be")
        self._state.restore(arrays, n_topics)
        alive = dense_labels(self._state.z, n_topics, self._tokens.n_given)[1]
        require(alive.size == n_topics, "a topic has no token")
        self._take(self._count(n_topics))
        self.concentrations, self.n_sweeps = now, whole_number("n_sweeps", values["n_sweeps"])

    def _count(self, n_topics: int) -> TopicCounts:
        return count_topics(self._tokens, self._state.z, self._state.documents, n_topics)

    def _take(self, counts: TopicCounts) -> None:
        self._counts, self._labelled = counts, self._state.label_tables()
        self._pairs = TablePairs.of_documents(self._tokens.sampled, self._state.documents)
        self._ratios = wide_enough(self._ratios, self._pairs.most_tables)

    def _stream(self, purpose: str) -> np.random.Generator:
        return np.random.Generator(np.random.Philox(key=int(key_of(self._seed, self.n_sweeps, purpose))))


def _representation(settings: ChainSettings, tokens: Tokens) -> Representation:
    if settings.representation == FRANCHISE:
        return Franchise(tokens)
    if settings.representation == PARALLEL:
        return PartiallyCollapsed(tokens, settings.labels)
    return TableIndicators(tokens, dense=settings.sampler == DENSE)


_SMALL = 1 << 20  # cells of a table of all pairs that is always small enough


@dataclass(frozen=True, slots=True)
class TablePairs:
    """How often a topic of a document has n tokens at m tables; in the order of n, then of m."""

    n: Int  # (P,)
    m: Int  # (P,)
    times: Int  # (P,)

    @classmethod
    def of(cls, n: NDArray[np.integer], m: NDArray[np.integer]) -> Self:
        """Count equal pairs."""
        width = int(m.max(initial=0)) + 1
        key, n_keys = n.astype(np.int64) * width + m, (int(n.max(initial=0)) + 1) * width
        if n_keys > max(_SMALL, key.size):
            found, key = np.unique(key, return_inverse=True)
        else:
            found = np.arange(n_keys)
        total = np.bincount(key, minlength=found.size)
        found, total = found[total > 0], total[total > 0]
        return cls(found // width, found % width, total)

    @classmethod
    def of_documents(cls, start: Int, documents: DocumentTopics) -> Self:
        """Count the pairs of the topics of the first D documents, which begin at start (D + 1,)."""
        size = documents.size[: start.size - 1]
        own = start, size, documents.n, documents.m
        n_most, m_most = kernels.largest_pair(*own)
        if (n_most + 1) * (m_most + 1) > _SMALL:
            n, m = (packed(start, size, x) for x in (documents.n, documents.m))
            return cls.of(n, m)
        times = np.zeros((n_most + 1, m_most + 1), np.int64)
        kernels.count_pairs(*own, times)
        n_of, m_of = map(np.ascontiguousarray, np.nonzero(times))  # kernels are compiled for one order of arrays
        return cls(n_of, m_of, times[n_of, m_of])

    @property
    def most_tables(self) -> int:
        """The most tables that a topic has in a document."""
        return int(self.m.max(initial=0))


def log_joint(
    pairs: TablePairs,
    lengths: Int,
    counts: TopicCounts,
    concentrations: Concentrations,
    ratios: StirlingRatios,
    known: KnownTopics | None = None,
    labels: LabelTables | None = None,
) -> float:
    """Return log p(x, z, m | alpha, gamma, eta) in nats.                                   docs/math (G1)

    The same for all representations: which tokens of a topic share a table is summed out, and so are corpus weights.
    What is `known` (G15), and the `labels` of documents (G16), are given and not drawn. lengths (D,): tokens of each
    document.
    """
    alpha, gamma, eta = concentrations.alpha, concentrations.gamma, concentrations.eta
    m_k, n_labels = counts.m[: counts.n_topics], 0 if labels is None else labels.n_labels
    of_labels, of_others = (0, 0) if known is None else known.n_tables(n_labels)
    n_known = (0 if known is None else known.n.size) - n_labels
    tables = kernels.log_seatings(pairs.n, pairs.m, pairs.times, ratios)
    tables = tables + (m_k.sum() - of_labels - of_others) * np.log(alpha)
    tables += (gammaln(alpha) - gammaln(alpha + lengths)).sum()
    others = m_k[n_labels:]
    top = (others.size - n_known) * np.log(gamma) + gammaln(others).sum()
    top = top + gammaln(gamma + n_known) - gammaln(gamma + others.sum())
    words = kernels.log_words(counts.words, counts.n, counts.n_topics, eta)
    given = 0.0 if known is None else known.log(eta)
    return float(tables + top + words - given) + (0.0 if labels is None else labels.log())


_WIDTH = 1.0  # of the first interval of a slice, in log eta


def resample(
    now: Concentrations,
    learn: Sequence[str],
    priors: Mapping[str, GammaPrior],
    counts: TopicCounts,
    lengths: Int,
    rng: np.random.Generator,
    known: KnownTopics | None = None,
    labels: LabelTables | None = None,
) -> Concentrations:
    """Return the concentrations after one step for each of those to learn: gamma, then alpha, then eta.

    lengths (D,): tokens of each document. `known`: topics that are in `counts` whatever the documents say, each with
    pseudo-tokens and a table, or the topic of a label. With `labels` gamma is that of the other topics. docs/math (G16)
    """
    n_labels = 0 if labels is None else labels.n_labels
    of_labels, of_others = (0, 0) if known is None else known.n_tables(n_labels)
    n_known = (0 if known is None else known.n.size) - n_labels
    m = counts.m[: counts.n_topics]
    K, M = m.size - n_labels - n_known, int(m.sum()) - of_labels - of_others
    if not M:
        return now  # no tokens: nothing to learn from
    if "gamma" in learn:
        of_gamma = int(m[n_labels:].sum()) - of_others
        step = partial(resample_gamma_beside, n_known) if n_known else resample_gamma
        now = now._replace(gamma=step(now.gamma, priors["gamma"], K, of_gamma, rng))
    if "alpha" in learn:
        now = now._replace(alpha=resample_alpha(now.alpha, priors["alpha"], M, lengths, rng))
    if "eta" in learn and not isinstance(now.eta, np.ndarray):
        now = now._replace(eta=resample_eta(now.eta, priors["eta"], WordLikelihood.of(counts), rng, known))
    return now


def resample_gamma(gamma: float, prior: GammaPrior, K: int, M: int, rng: np.random.Generator) -> float:
    """Take one step of p(gamma | K topics, M tables) (Escobar and West 1995).                        docs/math (H1)"""
    if not M:
        return within(float(rng.gamma(prior.shape) / prior.rate))
    rate = prior.rate - np.log(rng.beta(gamma + 1.0, M))
    odds = (prior.shape + K - 1.0) / (M * rate)
    more = rng.random() * (1.0 + odds) < odds
    return within(float(rng.gamma(prior.shape + K - (not more)) / rate))


def resample_gamma_beside(
    n_known: int, gamma: float, prior: GammaPrior, K: int, M: int, rng: np.random.Generator
) -> float:
    """Take one step of p(gamma | K topics, M tables) beside L known topics with a table each.       docs/math (H4)"""
    if not M:
        return within(float(rng.gamma(prior.shape) / prior.rate))
    rate = prior.rate - np.log(rng.beta(gamma + n_known, M))
    return within(float(rng.gamma(prior.shape + K) / rate))


def resample_alpha(alpha: float, prior: GammaPrior, M: int, lengths: Int, rng: np.random.Generator) -> float:
    """Take one step of p(alpha | M tables, documents of n_j tokens) (Teh et al. 2006, appendix).     docs/math (H2)"""
    n = lengths[lengths > 0]
    rate = prior.rate - np.log(rng.beta(alpha + 1.0, n)).sum()
    closed = np.count_nonzero(rng.random(n.size) * (n + alpha) < n)
    return within(float(rng.gamma(prior.shape + M - closed) / rate))


def resample_eta(
    eta: float,
    prior: GammaPrior,
    words: WordLikelihood,
    rng: np.random.Generator,
    known: KnownTopics | None = None,
) -> float:
    """Take one step of slice sampling on x = log eta, stepping out and shrinking (Neal 2003).        docs/math (H3)

    What pseudo-tokens that are `known` say of themselves is taken off.                               docs/math (H4)
    """
    of_known = None if known is None else known.likelihood()

    def log_density(x: float) -> float:
        value = prior.shape * x - prior.rate * np.exp(x) + words.log(float(np.exp(x)))
        return value if of_known is None else value - of_known.log(float(np.exp(x)))

    x = float(np.log(eta))
    level = log_density(x) + np.log1p(-rng.random())
    low = x - _WIDTH * rng.random()
    high = low + _WIDTH
    while low > np.log(SMALLEST) and log_density(low) > level:
        low -= _WIDTH
    while high < np.log(LARGEST) and log_density(high) > level:
        high += _WIDTH
    low, high = max(low, float(np.log(SMALLEST))), min(high, float(np.log(LARGEST)))
    while True:
        new = float(rng.uniform(low, high))
        if log_density(new) >= level:
            return within(float(np.exp(new)))
        low, high = (new, high) if new < x else (low, new)
