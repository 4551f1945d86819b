"""Pitman-Yor priors of words and of topics beside Dirichlet ones, in a chain of their own: completion.

The chain is dense collapsed Gibbs sampling of LDA with a given number of topics. A restaurant is a topic with words for
dishes, or a document with topics for dishes; what all tables of a side say of the dishes has a Dirichlet prior. Each
token draws its topic together with an indicator on either side: whether it opens a table (Chen, Du and Buntine 2011).
Discounts and concentrations are drawn from grids. With a Dirichlet prior nothing has tables: that of words has a
learned eta, that of topics a learned mean. Held-out documents get the mean of their weights under the mean of the
topics by sampling, too, so that all priors are scored alike.
"""

from __future__ import annotations

import argparse
import sys
from copy import copy
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import digamma, gammaln, logsumexp

from benchmarks.harness import corpora
from benchmarks.harness.tables import table
from benchmarks.topics.bursts import sampled
from benchmarks.topics.default import Row
from stickbreak.fitting.hyperparameters import digamma_gain
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_random import open_stream, uniform
from stickbreak.numerics.streams import key_of
from stickbreak.sparse_gibbs.priors import STEPS, fixed_point, is_due

COLLECTIONS = ("kos", "ap", "reuters21578", "20news", "nips", "docstrings")
DISCOUNTS, CONCENTRATIONS, BASES = np.arange(0.0, 0.96, 0.05), np.geomspace(0.1, 1e5, 61), np.geomspace(1e-3, 1e2, 101)
CONCENTRATION = (5.0, 100.0)  # where the chain begins, of documents and of topics; a discount of 0.25
MOST_TABLES = 200  # of a dish in a restaurant
LATE, EVERY = 0.6, 15  # share of the passes after which topics are kept, and how often
BURN_IN, KEPT = 20, 40  # passes over held-out documents
Sides = tuple[bool, bool]  # which have tables: words, topics
PRIORS: dict[str, Sides] = {"words": (True, False), "topics": (False, True)}


class Tables(NamedTuple):
    """One side as a sweep takes it; counts change in place. K topics stand in columns."""

    n: Int  # (rows, K)  tokens of a word, or of a document
    t: Int  # (rows, K)  tables
    tokens: Int  # of each restaurant
    of_restaurant: Int  # tables
    of_dish: Int  # tables
    total: Int  # (1,)  tables
    base: Float  # pseudo-tables of each dish
    numbers: tuple[float, float, float]  # concentration, discount, sum of the base
    joins: Float  # [n, t]  S(n + 1, t) / S(n, t) of generalised Stirling numbers, times (n + 1 - t) / (n + 1)
    opens: Float  # [n, t]  S(n + 1, t + 1) / S(n, t), times (t + 1) / (n + 1)


@njit(cache=True)
def log_stirling(n, m, discount):
    """Return log S(i, t) for i <= n + 1 tokens and t <= m + 1 tables, (n + 2, m + 2)."""
    log_S = np.full((n + 2, m + 2), -np.inf)
    log_S[0, 0] = 0.0
    for i in range(n + 1):
        for t in range(1, min(i, m) + 2):
            log_S[i + 1, t] = log_S[i, t - 1]
            if t <= i:
                log_S[i + 1, t] = np.logaddexp(log_S[i, t - 1], log_S[i, t] + np.log(i - t * discount))
    return log_S


@njit(cache=True)
def ratios(log_S):
    """Return `joins` and `opens`; nothing opens more than MOST_TABLES."""
    n, m = log_S.shape[0] - 1, log_S.shape[1] - 1
    joins, opens = np.zeros((n, m)), np.zeros((n, m))
    for i in range(n):
        for t in range(min(i + 1, m)):
            if log_S[i, t] > -np.inf:
                joins[i, t] = np.exp(log_S[i + 1, t] - log_S[i, t]) * (i + 1 - t) / (i + 1)
                if t + 1 < m:
                    opens[i, t] = np.exp(log_S[i + 1, t + 1] - log_S[i, t]) * (t + 1) / (i + 1)
    return joins, opens


@njit(cache=True)
def opened(rng, n, t):
    """Draw whether a token opened its table, 1 or 0; -1 if the others of the cell cannot do without it."""
    if t == 0 or uniform(rng) * n >= t:
        return 0
    return -1 if t == 1 and n > 1 else 1


@njit(cache=True)
def change(side, row, k, restaurant, dish, step, opens, learns):
    """Seat a token, or take it away, with its table."""
    side.n[row, k] += step
    side.t[row, k] += step * opens
    side.tokens[restaurant] += step
    side.of_restaurant[restaurant] += step * opens
    if learns:
        side.of_dish[dish] += step * opens
        side.total[0] += step * opens


@njit(cache=True)
def new_table(side, restaurant, dish):
    """Return (b + a T) times the probability of the dish."""
    b, discount, of_base = side.numbers
    of_dish = (side.base[dish] + side.of_dish[dish]) / (of_base + side.total[0])
    return (b + discount * side.of_restaurant[restaurant]) * of_dish


@njit(cache=True)
def weight(side, row, k, new):
    """Return the weight of one more token in a cell."""
    n, t = side.n[row, k], side.t[row, k]
    return new if n == 0 else side.joins[n, t] + new * side.opens[n, t]


@njit(cache=True)
def draw_opens(side, row, k, new, rng):
    """Draw whether one more token of a cell opens a table."""
    n, t = side.n[row, k], side.t[row, k]
    if side.joins.shape[1] == 1:  # a Dirichlet prior
        return 0
    return int(uniform(rng) * weight(side, row, k, new) < new * side.opens[n, t])


@njit(cache=True)
def sweep(docs, words, z, of_words, of_topics, phi, rng):
    """Draw topics and indicators; a topic of -1 is drawn for the first time. With phi (W, K) only documents change."""
    K, learns = of_topics.n.shape[1], phi.size == 0
    sums = np.empty(K)
    for i in range(words.size):
        d, w, k = docs[i], words[i], z[i]
        if k >= 0:
            u = opened(rng, of_words.n[w, k], of_words.t[w, k]) if learns else 0
            v = opened(rng, of_topics.n[d, k], of_topics.t[d, k])
            if u < 0 or v < 0:
                continue
            change(of_topics, d, k, d, k, -1, v, learns)
            if learns:
                change(of_words, w, k, k, w, -1, u, learns)
        running = 0.0
        for k in range(K):
            if learns:
                x = weight(of_words, w, k, new_table(of_words, k, w)) / (of_words.numbers[0] + of_words.tokens[k])
            else:
                x = phi[w, k]
            running += x * weight(of_topics, d, k, new_table(of_topics, d, k))
            sums[k] = running
        k = min(np.searchsorted(sums, uniform(rng) * running, side="right"), K - 1)
        z[i] = k
        v = draw_opens(of_topics, d, k, new_table(of_topics, d, k), rng)
        change(of_topics, d, k, d, k, 1, v, learns)
        if learns:
            u = draw_opens(of_words, w, k, new_table(of_words, k, w), rng)
            change(of_words, w, k, k, w, 1, u, learns)


def draw(rng: np.random.Generator, log_p: Float) -> int:
    """Draw a place in proportion to exp(log_p)."""
    return int(rng.choice(log_p.size, p=np.exp(log_p - logsumexp(log_p))))


def rising(b: Float | float, discount: Float | float, T: Int) -> Float:
    """Return log of b (b + discount) ... (b + (T - 1) discount)."""
    step = np.maximum(discount, 1e-12)
    small = T * np.log(b)
    return np.where(np.asarray(discount) > 0.0, T * np.log(step) + gammaln(b / step + T) - gammaln(b / step), small)


class Side:
    """Restaurants along one axis of counts of K topics in columns: 0 for documents, 1 for topics; and their numbers."""

    def __init__(self, shape: tuple[int, int], axis: int, most_tokens: int, by_tables: bool) -> None:
        self.axis, self.by_tables, self.base = axis, by_tables, np.full(shape[1 - axis], 0.05)
        self.ratios = np.arange(most_tokens + 1.0)[:, None], np.ones((most_tokens + 1, 1))
        if by_tables:
            most_tables = min(most_tokens, MOST_TABLES)
            self._log_S = [log_stirling(most_tokens, most_tables, discount) for discount in DISCOUNTS]
        self.set_numbers(*((CONCENTRATION[axis], len(DISCOUNTS) // 4) if by_tables else (self.base.sum(), 0)))
        self.empty(shape)

    def set_numbers(self, concentration: float, place: int) -> None:
        """Take a concentration and the discount at a place of the grid; without tables, the sum of the base and 0."""
        self.numbers = float(concentration), float(DISCOUNTS[place])
        if self.by_tables:
            self.ratios = ratios(self._log_S[place])

    def empty(self, shape: tuple[int, int]) -> None:
        """Begin without tokens."""
        sizes = shape, shape, shape[self.axis], shape[self.axis], shape[1 - self.axis], 1
        self.counts = [np.zeros(size, np.int64) for size in sizes]

    def tables(self) -> Tables:
        """Return what a sweep takes."""
        return Tables(*self.counts, self.base, (*self.numbers, float(self.base.sum())), *self.ratios)

    def mean(self) -> Float:
        """Return the mean distributions of the restaurants, as the counts stand."""
        n, t, tokens, T, of_dish, _ = self.counts
        (b, discount), base = self.numbers, (self.base + of_dish) / (self.base + of_dish).sum()
        along = np.expand_dims((b + discount * T) / (b + tokens), 1 - self.axis)
        return (n - discount * t) / np.expand_dims(b + tokens, 1 - self.axis) + along * np.expand_dims(base, self.axis)

    def learn(self, rng: np.random.Generator) -> None:
        """Learn the numbers, given tokens and tables."""
        n, t, tokens, T, of_dish, _ = self.counts
        if self.by_tables:
            cells, times = np.unique(n * (MOST_TABLES + 1) + t, return_counts=True)
            cells = np.divmod(cells, MOST_TABLES + 1)
            of_cells = np.array([times @ log_S[cells] for log_S in self._log_S])
            b, discount = CONCENTRATIONS[:, None], self.numbers[1]
            for _ in range(3):
                log_p = (rising(b, discount, T) - gammaln(b + tokens) + gammaln(b)).sum(axis=1)
                chosen = CONCENTRATIONS[draw(rng, log_p)]
                place = draw(rng, of_cells + rising(chosen, DISCOUNTS[:, None], T).sum(axis=1))
                discount = DISCOUNTS[place]
            self.set_numbers(chosen, place)
            self.base[:] = drawn_base(rng, of_dish[:, None])
        elif self.axis == 1:
            self.base[:] = drawn_base(rng, n)
        else:
            for _ in range(STEPS):
                of_dishes = self.base * (digamma(n + self.base) - digamma(self.base)).sum(axis=0)
                self.base = fixed_point(of_dishes, digamma_gain(self.base.sum(), tokens)).clip(1e-6)
        if not self.by_tables:
            self.set_numbers(self.base.sum(), 0)


def drawn_base(rng: np.random.Generator, counts: Int) -> float:
    """Draw the symmetric Dirichlet prior of the columns of counts, given these."""
    n, times = np.unique(counts, return_counts=True)
    base, total = BASES[:, None], BASES[:, None] * counts.shape[0]
    of_columns = (gammaln(total) - gammaln(total + counts.sum(axis=0))).sum(axis=1)
    return float(BASES[draw(rng, (gammaln(base + n) - gammaln(base)) @ times + of_columns)])


class Chain:
    """A chain of D documents over W words with K topics; `by_tables` says of words and of topics.

    A document that comes later may have `longest` tokens.
    """

    def __init__(self, counts: sp.csr_array, n_topics: int, by_tables: Sides, seed: int, longest: int = 0) -> None:
        self.docs, self.words = tokens_of(counts)
        self.z, self.random = np.full(self.words.size, -1), np.zeros(1, np.uint64)
        self._rng = np.random.default_rng(seed)
        open_stream(self.random, key_of(seed, 0, "power laws"), 0)
        most, longest = int(counts.sum(axis=0).max()), max(longest, int(counts.sum(axis=1).max()))
        self.of_words = Side((counts.shape[1], n_topics), 1, most, by_tables[0])
        self.of_topics = Side((counts.shape[0], n_topics), 0, longest, by_tables[1])

    def lap(self, learns: bool) -> None:
        """Draw all topics once, and then learn all numbers given the topics."""
        sides = self.of_words.tables(), self.of_topics.tables()
        sweep(self.docs, self.words, self.z, *sides, np.zeros((0, 0)), self.random)
        if learns:
            self.of_words.learn(self._rng)
            self.of_topics.learn(self._rng)

    def weights(self, counts: sp.csr_array, phi: Float) -> Float:
        """Return the mean weights of documents under topics phi (W, K), of shape (D, K)."""
        docs, words = tokens_of(counts)
        documents, z, mean = copy(self.of_topics), np.full(words.size, -1), np.zeros((counts.shape[0], phi.shape[1]))
        documents.empty(mean.shape)
        documents.counts[4:] = self.of_topics.counts[4:]  # what tables say of topics does not change
        for lap in range(BURN_IN + KEPT):
            sweep(docs, words, z, self.of_words.tables(), documents.tables(), phi, self.random)
            if lap >= BURN_IN:
                mean += documents.mean() / KEPT
        return mean


def tokens_of(counts: sp.csr_array) -> tuple[Int, Int]:
    """Return the document and the word of each token."""
    entries, n = counts.tocoo(), counts.data.astype(np.int64)
    return np.repeat(entries.row.astype(np.int64), n), np.repeat(entries.col.astype(np.int64), n)


def fitted(split: corpora.Split, options: argparse.Namespace, by_tables: Sides, seed: int) -> tuple[float, float]:
    """Fit one chain; return nats per token of the second halves, and the discount."""
    train = sampled(split.train, options.tokens).counts
    seen = np.flatnonzero(np.asarray(train.sum(axis=0)).ravel() > 0)
    parts = train, split.observed.counts, split.held_out.counts
    train, observed, held_out = (sp.csr_array(part[:, seen]) for part in parts)
    both = np.flatnonzero((observed.sum(axis=1) > 0) & (held_out.sum(axis=1) > 0))
    chain = Chain(train, options.topics, by_tables, seed, int(observed.sum(axis=1).max()))
    phi, n_kept = 0.0, 0
    for lap in range(1, options.passes + 1):
        chain.lap(is_due(lap))
        if lap > LATE * options.passes and (options.passes - lap) % EVERY == 0:
            phi, n_kept = phi + chain.of_words.mean(), n_kept + 1
    phi /= n_kept
    weights, second = chain.weights(observed[both], phi), held_out[both].tocoo()
    log_p = np.log((weights[second.row] * phi[second.col]).sum(axis=1))
    discount = max(chain.of_words.numbers[1], chain.of_topics.numbers[1])
    return float(second.data @ log_p / second.data.sum()), discount


def row(split: corpora.Split, options: argparse.Namespace) -> Row:
    """Return a row of the table: what each prior gains over Dirichlet ones, seed by seed."""
    seeds = range(options.seeds)
    plain = np.array([fitted(split, options, (False, False), seed)[0] for seed in seeds])
    found: Row = {"collection": split.name, "Dirichlet": f"{plain.mean():.3f}"}
    for name in options.priors:
        scores, discounts = np.transpose([fitted(split, options, PRIORS[name], seed) for seed in seeds])
        gains = ", ".join(f"{gain:+.3f}" for gain in scores - plain)
        found[f"{name}: gain"] = f"{scores.mean() - plain.mean():+.3f} ({gains})"
        found[f"{name}: discount"] = f"{discounts.mean():.2f}"
    sys.stderr.write(f"{found}\n")
    return found


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--collections", nargs="+", default=[*COLLECTIONS], help="corpora by name")
    parser.add_argument("--priors", nargs="+", choices=PRIORS, default=[*PRIORS], help="that are by tables")
    parser.add_argument("--topics", type=int, default=50, help="their number")
    parser.add_argument("--tokens", type=int, default=60_000, help="of a random part of the documents of a fit")
    parser.add_argument("--passes", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=3)


def run(options: argparse.Namespace) -> str:
    """Return the table."""
    return table([row(corpora.load(name), options) for name in corpora.names(options.collections)])
