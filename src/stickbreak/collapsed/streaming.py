"""The stochastic form (Foulds, Boyles, DuBois, Smyth and Welling 2013): topics that follow minibatches of a stream."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from stickbreak.collapsed.cvb0 import corpus_weights, given_start, sweep, updated, with_random_topics
from stickbreak.collapsed.learning import best_gamma, eta_without_seeds
from stickbreak.collapsed.memory import InMemory
from stickbreak.collapsed.sampled import checked_rows
from stickbreak.collapsed.shards import Shard
from stickbreak.collapsed.state import CollapsedState, Priors
from stickbreak.collapsed.steering import UNSTEERED, Steering, add_pseudo
from stickbreak.collapsed.walking import Outcome, count_all, nothing
from stickbreak.corpus import Corpus
from stickbreak.corpus.csr import assemble_csr
from stickbreak.fitting.alive import ALIVE, alive
from stickbreak.fitting.checkpoint import require, whole_number
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.hyperparameters import mean_alpha, opened
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.keys import key_of
from stickbreak.numerics.pseudo_counts import of_words, total_of
from stickbreak.numerics.ranges import LARGEST_OFFSET, are_sums, are_tables

ETA_EVERY = 20  # steps: it costs a pass over all pairs of words and topics
SMALLEST_SCALE = 1e-6


@dataclass(slots=True)
class Topics:
    """What a model keeps of its documents: expected counts and tables of K topics over W words."""

    counts: Float  # (W, K)  S = scale * counts: a step writes only the words of its documents
    scale: float
    N: Float  # (K,)   tokens
    tables: Float  # (K,)
    opened: float  # sum_d psi(alpha + N_d) - psi(alpha), what alpha is learned from
    n_steps: int = 0
    n_kept: int = 0  # the first topics keep their numbers ...
    pseudo: sparse.csr_array | None = None  # (W, n_whole)  ... and the first of them have pseudo-counts besides
    # words whose rows later topics share and have changed; those rows
    overwritten: tuple[NDArray[np.integer], Float] | None = None

    @classmethod
    def of(cls, state: CollapsedState, shown: Int, priors: Priors, lengths: Float, share: float = 1.0) -> Self:
        """Return the shown topics of a state, as many times as large as `share` says."""
        steering, counts, N = state.steering, np.ascontiguousarray(state.S[:, shown]), state.N[shown]
        if steering.pseudo is not None:
            add_pseudo(steering.pseudo, counts, N, -1.0)
            counts, N = np.maximum(counts, 0.0), np.maximum(N, 0.0)  # a mean over passes rounds
        tables = np.maximum(state.tables[shown], np.finfo(np.float64).tiny) * share
        of_alpha = share * opened(priors.alpha, lengths) + steering.opened
        n_kept, pseudo = steering.n_kept, steering.pseudo
        return cls(counts * share, 1.0, N * share, tables, of_alpha, n_kept=n_kept, pseudo=pseudo)

    def shown(self) -> Int:
        """Return the topics that are shown: those that are kept, then the others with tokens, the largest first."""
        return alive(self.N, self.n_kept)

    @property
    def n_whole(self) -> int:
        """Number of topics of labels and seeds."""
        return 0 if self.pseudo is None else int(self.pseudo.shape[1])

    def known(self) -> tuple[Float, Float]:
        """Return the counts and tokens of all topics with their pseudo-counts, (W, K) and (K,)."""
        counts, N = self.counts * self.scale, self.N.copy()
        if self.pseudo is not None:
            add_pseudo(self.pseudo, counts, N)
        return counts, N

    def dense(self, topics: Int) -> Float:
        """Return the expected tokens of each word in these topics, (K', W)."""
        return np.ascontiguousarray(self.counts[:, topics].T) * self.scale

    def of_words(self, words: NDArray[np.integer] | slice) -> Float:
        """Return the expected tokens of some words in the topics that are shown, with pseudo-counts, (n, K')."""
        found = self.counts[words][:, self.shown()] * self.scale
        if self.pseudo is not None:
            found[:, : self.n_whole] += self.pseudo[words].toarray()
        return found

    def expected(self) -> Float:
        """Return the expected tokens of each word in the topics that are shown, with pseudo-counts, (K', W)."""
        found = self.dense(self.shown())
        if self.pseudo is not None:
            add_pseudo(self.pseudo, found.T, np.zeros(len(found)))
        return found

    def take_back(self) -> None:
        """Write back the rows that a step has overwritten."""
        if self.overwritten is not None:
            words, rows = self.overwritten
            self.counts[words], self.overwritten = rows, None

    def packed(self) -> tuple[dict[str, NDArray], dict[str, Any]]:
        """Return everything as arrays and plain values."""
        arrays = {"counts": self.counts, "N": self.N, "tables": self.tables}
        values: dict[str, Any] = {"scale": self.scale, "opened": self.opened, "n_steps": self.n_steps}
        if self.n_kept:
            values |= {"n_kept": self.n_kept, "n_whole": self.n_whole}
        if self.pseudo is not None:
            arrays |= {f"pseudo.{name}": getattr(self.pseudo, name) for name in ("data", "indices", "indptr")}
        return arrays, values

    @classmethod
    def unpacked(cls, arrays: Mapping[str, NDArray], values: Mapping[str, Any], n_words: int) -> Self:
        """Return what `packed` took apart.

        Raises
        ------
        KeyError, ValueError
            If it cannot be topics of these words.
        """
        counts, N, tables = (arrays[name] for name in ("counts", "N", "tables"))
        K = N.size
        if counts.shape != (n_words, K) or N.shape != (K,) or tables.shape != (K,) or K == 0:
            raise ValueError("its topics do not fit its words")
        for array in (counts, N, tables):
            if array.dtype != np.float64 or not are_sums(array):
                raise ValueError("its topics hold a number that is negative, not finite or too large")
        scale, n_steps = float(values["scale"]), int(values["n_steps"])
        sound = SMALLEST_SCALE <= scale <= 1 and n_steps >= 0 and are_sums(float(values["opened"]))
        if not sound:
            raise ValueError("the scale or the number of steps of its topics is impossible")
        if not are_tables(tables[alive(N)]):
            raise ValueError("its topics have next to no tables, which every document adds to")
        if not np.allclose(counts.sum(axis=0) * scale, N, rtol=1e-6, atol=1e-3):
            raise ValueError("the counts and the tokens of a topic disagree")
        kept = _restored_kept(arrays, values, n_words, K)
        return cls(counts, scale, N, tables, float(values["opened"]), n_steps, *kept)


def _restored_kept(
    arrays: Mapping[str, NDArray], values: Mapping[str, Any], n_words: int, n_topics: int
) -> tuple[int, sparse.csr_array | None]:
    """Return how many topics keep their numbers, and their pseudo-counts; a ValueError for what cannot be."""
    n_kept, n_whole = (whole_number(name, values.get(name, 0)) for name in ("n_kept", "n_whole"))
    require(n_whole <= n_kept <= n_topics, "topics that are kept are not there")
    if not n_whole:
        return n_kept, None
    data, indices, indptr = (arrays[f"pseudo.{name}"] for name in ("data", "indices", "indptr"))
    return n_kept, sparse.csr_array(checked_rows(data, indices, indptr, (n_words, n_whole)))


@dataclass(frozen=True, slots=True)
class StepRules:
    """What the steps of a stream have in common."""

    smallest: float  # share that is kept
    sweeps: int  # of a minibatch
    learn: tuple[str, ...]
    seed: int


def offset_for(given: float | None, decay: float, share: float) -> float:
    """Return the offset of the steps, where the first minibatch is this share of those so far.  math.md (C10)"""
    if given is not None:
        return float(given)
    if -np.log(share) >= decay * np.log(LARGEST_OFFSET):
        return LARGEST_OFFSET
    return max(1.0, share ** (-1.0 / decay) - 1.0)


def begin(
    corpus: Corpus,
    n_topics: int,
    n_sweeps: int,
    priors: Priors,
    rules: StepRules,
    share: float,
    engine: Engine,
    given: Float | None = None,
    stop: Callable[[], bool] = lambda: False,
    steering: Steering = UNSTEERED,
) -> tuple[Topics, float]:
    """Return the topics that sweeps over the first minibatch find, and their log p of its tokens.

    Parameters
    ----------
    corpus : Corpus
    n_topics, n_sweeps : int
    priors : Priors
    rules : StepRules
    share : float
        Documents of the stream to those of the minibatch.
    engine : Engine
    given : ndarray of shape (K, W), optional
        Expected counts of the topics to start from.
    stop : callable, optional
        Asked between two sweeps; raises where the start is given up.
    steering : Steering, optional
    """
    if given is None:
        state = with_random_topics(InMemory(corpus), n_topics, rules.seed, engine, steering)
    else:
        state = given_start(InMemory(corpus), given, rules.smallest, rules.seed, engine)
    for done in range(n_sweeps):
        if done:
            stop()
        sweep(state, priors, rules.smallest, rules.seed, engine)
    lengths = np.asarray(corpus.document_lengths, dtype=np.float64)
    return Topics.of(state, state.shown(), priors, lengths, share), state.log_p


def step(
    topics: Topics, corpus: Corpus, priors: Priors, rules: StepRules, share: float, size: float, engine: Engine
) -> tuple[Topics, float]:
    """Return topics nearer to those that a minibatch, scaled up, asks for, and its log p.             math.md (C10)

        S <- (1 - xi) S + xi s S',    M <- (1 - xi) M + xi s M',    s = D / |B|

    The log p is that of its tokens before the step, each word given those before it in its document.

    Parameters
    ----------
    topics : Topics
        Only of use for `take_back` afterwards: the new topics change their rows of the minibatch's words.
    corpus : Corpus
        The minibatch, with at least one token.
    priors : Priors
    rules : StepRules
    share : float
        s.
    size : float
        xi.
    engine : Engine
    """
    words, W = np.unique(corpus.counts.indices), topics.counts.shape[0]
    documents = InMemory(_of_words(corpus, words))
    S, N, prior = (
        topics.counts[words] * topics.scale,
        topics.N,
        priors.alpha * corpus_weights(topics.tables, priors.gamma),
    )
    if topics.pseudo is not None:
        N = N.copy()
        add_pseudo(topics.pseudo[words], S, np.zeros_like(N))
        N[: topics.n_whole] += topics.pseudo.sum(axis=0)
    log_p, tables, total_eta = 0.0, np.zeros_like(N), float(total_of(priors.eta, W))
    of_words_alone = replace(priors, eta=of_words(priors.eta, words))
    for number in range(rules.sweeps):
        key = key_of(rules.seed, topics.n_steps + 1, f"collapsed step, sweep {number}")
        given = Following(S, N, prior, of_words_alone, W, total_eta, rules.smallest, key)
        tables, of_sweep = documents.walk(engine, follow, given).sums
        if number == 0:
            log_p = float(of_sweep)
    of_batch, of_topics = np.zeros_like(S), np.zeros_like(N)
    documents.walk(engine, nothing, count=count_all, into=(of_batch, of_topics))
    counts, scale = topics.counts, topics.scale * (1.0 - size)
    if scale < SMALLEST_SCALE:
        counts, scale = counts * scale, 1.0
    lengths = np.asarray(corpus.document_lengths, dtype=np.float64)
    moved = Topics(
        counts,
        scale,
        (1.0 - size) * topics.N + size * share * of_topics,
        (1.0 - size) * topics.tables + size * share * tables,
        (1.0 - size) * topics.opened + size * share * opened(priors.alpha, lengths),
        topics.n_steps + 1,
        topics.n_kept,
        topics.pseudo,
    )
    rows = counts[words]
    if counts is topics.counts:
        topics.overwritten = words, rows
    counts[words] = rows + (size * share / scale) * of_batch
    return moved, log_p


@dataclass(frozen=True, slots=True)
class Following:
    """What the sweeps over a minibatch go by: its documents are not in these counts."""

    S: Float  # of its words
    N: Float
    prior: Float
    priors: Priors
    n_words: int  # of all documents
    total_eta: float  # of all these words
    smallest: float
    key: np.uint64


def follow(given: Following, shard: Shard) -> Outcome:
    """Find new shares of a shard, its expected tables (K,), and its log p of all tokens."""
    rules = (given.prior, given.priors, given.n_words, given.smallest, given.key)
    new, tables, log_p = updated(shard, given.S, given.N, *rules, counted=False, total_eta=given.total_eta)
    return Outcome((tables, np.array(log_p)), new)


def joined(topics: Topics, corpus: Corpus, priors: Priors, rules: StepRules, engine: Engine) -> Topics:
    """Return topics with the tokens of further documents, whose shares are found while the topics stay.  math.md (C1)

    Parameters
    ----------
    topics : Topics
        Of a scale of one, and without pseudo-counts. Its counts are changed.
    corpus : Corpus
    priors : Priors
    rules : StepRules
    engine : Engine
    """
    if not corpus.n_tokens:
        return topics
    documents, prior = InMemory(corpus), priors.alpha * corpus_weights(topics.tables, priors.gamma)
    tables, n_words = np.zeros_like(topics.N), corpus.n_words
    total_eta = float(total_of(priors.eta, n_words))
    for number in range(rules.sweeps):
        key = key_of(rules.seed, number, "collapsed documents join")
        given = Following(topics.counts, topics.N, prior, priors, n_words, total_eta, rules.smallest, key)
        tables, _ = documents.walk(engine, follow, given).sums
    documents.walk(engine, nothing, count=count_all, into=(topics.counts, topics.N))
    more = opened(priors.alpha, np.asarray(corpus.document_lengths, dtype=np.float64))
    return replace(topics, tables=topics.tables + tables, opened=topics.opened + more)


def _of_words(corpus: Corpus, words: NDArray[np.integer]) -> Corpus:
    """Return the same documents with these words alone, which are all that occur in them."""
    counts = corpus.counts
    return Corpus(assemble_csr(counts.data, np.searchsorted(words, counts.indices), counts.indptr, words.size))


def learned(topics: Topics, priors: Priors, names: tuple[str, ...]) -> Priors:
    """Return the hyperparameters after a step.                                           math.md (C5), (C6), (C7)"""
    alpha, gamma, eta = priors.alpha, priors.gamma, priors.eta
    tables = float(topics.tables.sum())
    if "alpha" in names:
        alpha = mean_alpha(tables, topics.opened)
    if "gamma" in names:
        gamma = best_gamma(tables, int((topics.N >= ALIVE).sum()), gamma)
    if "eta" in names and not isinstance(eta, np.ndarray) and topics.n_steps % ETA_EVERY == 0:
        eta = eta_without_seeds(topics.counts * topics.scale, topics.N, topics.n_whole, eta)
    return Priors(alpha, gamma, eta)
