"""Exact posteriors of tiny corpora: every seating of the franchise, with its probability.

The probability of a seating is built up guest by guest from the predictive rules of the two restaurants (Teh et al.
2006, Sec. 4), not from the closed form that the samplers use.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

EXACT = json.loads((Path(__file__).parents[1] / "data" / "samplers.json").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Tiny:
    """A corpus of a few tokens with its hyperparameters."""

    docs: list[list[int]]
    V: int
    alpha: float
    gamma: float
    eta: float | list[float]  # one for all words, or one for each

    @classmethod
    def named(cls, name):
        return cls(**EXACT["exact"][name]["corpus"])

    @property
    def words(self):
        return [w for doc in self.docs for w in doc]

    @property
    def document(self):
        return [d for d, doc in enumerate(self.docs) for _ in doc]


@dataclass(frozen=True)
class Seating:
    """table[i] of token i and dish[t] of table t, both numbered by first appearance over the whole corpus."""

    table: tuple[int, ...]
    dish: tuple[int, ...]

    @property
    def topics(self):
        """z, canonical: a token's dish; tables stand in the order of their first guests, so do the dishes."""
        return tuple(self.dish[t] for t in self.table)


def canonical(labels):
    """Number labels by first appearance."""
    seen: dict = {}
    return tuple(seen.setdefault(x, len(seen)) for x in labels)


def seatings(tiny):
    """Return {seating: log p(words, seating)}."""
    words, document = tiny.words, tiny.document
    found = {}

    def go(i, table, owner, dish, log_p):
        if i == len(words):
            found[Seating(tuple(table), tuple(dish))] = log_p
            return
        d, w = document[i], words[i]
        here = [t for t in range(len(dish)) if owner[t] == d]
        guests = sum(owner[t] == d for t in table)
        f = [predictive(tiny, [words[a] for a in range(i) if dish[table[a]] == k], w) for k in range(len(set(dish)))]
        for t in here:
            p = table.count(t) / (guests + tiny.alpha) * f[dish[t]]
            go(i + 1, [*table, t], owner, dish, log_p + math.log(p))
        opened = tiny.alpha / (guests + tiny.alpha) / (len(dish) + tiny.gamma)
        for k in range(len(f)):
            p = opened * dish.count(k) * f[k]
            go(i + 1, [*table, len(dish)], [*owner, d], [*dish, k], log_p + math.log(p))
        p = opened * tiny.gamma * predictive(tiny, [], w)
        go(i + 1, [*table, len(dish)], [*owner, d], [*dish, len(f)], log_p + math.log(p))

    go(0, [], [], [], 0.0)
    return found


def predictive(tiny, others, w):
    """(n_kw + eta_w) / (n_k + sum eta)"""
    eta = np.broadcast_to(tiny.eta, tiny.V)
    return (others.count(w) + eta[w]) / (len(others) + eta.sum())


def posterior(tiny):
    """Return (seatings, their probabilities, log evidence)."""
    found = seatings(tiny)
    log_p = np.array(list(found.values()))
    log_evidence = float(np.logaddexp.reduce(log_p))
    return list(found), np.exp(log_p - log_evidence), log_evidence


def table_words(tiny, seating):
    """Return the words at each table."""
    return [[w for w, t in zip(tiny.words, seating.table, strict=True) if t == c] for c in range(len(seating.dish))]


def from_document_order(docs, tables, dishes):
    """Return the seating of tables numbered document by document, with their dishes."""
    base = np.concatenate(([0], np.cumsum([max(row) + 1 for row in tables])))
    table = [int(base[d]) + t for d, row in enumerate(tables) for t in row]
    assert [len(row) for row in tables] == [len(doc) for doc in docs]
    assert canonical(table) == tuple(table)
    return Seating(tuple(table), canonical(dishes))


def offsets(rows):
    """Return where each row starts when they are laid end to end."""
    start = [0]
    for row in rows:
        start.append(start[-1] + len(row))
    assert all(b > a for a, b in pairwise(start))
    return np.array(start, dtype=np.int64)


def set_partitions(n):
    """Yield the partitions of n things as labels by first appearance."""
    if n == 0:
        yield ()
        return
    for labels in set_partitions(n - 1):
        for k in range(max(labels, default=-1) + 2):
            yield (*labels, k)
