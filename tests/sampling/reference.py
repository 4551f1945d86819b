"""Slow NumPy twins of the samplers, written from docs/math, the samplers, one word and one table at a time."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln

_BITS = 2**64 - 1
_STEP, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


class Stream:
    """The random numbers of a kernel: SplitMix64, in Python's integers."""

    def __init__(self, key, index):
        self.state = self.mix(self.mix((key + _STEP) & _BITS) ^ ((index * _STEP + _FIRST) & _BITS))

    @staticmethod
    def mix(x):
        x = ((x ^ (x >> 30)) * _FIRST) & _BITS
        x = ((x ^ (x >> 27)) * _SECOND) & _BITS
        return x ^ (x >> 31)

    def uniform(self):
        self.state = (self.state + _STEP) & _BITS
        return (self.mix(self.state) >> 11) / 2**53


def log_f(words, eta, n_words):
    """log f_k = log Gamma(W eta)/Gamma(n_k + W eta) prod_v Gamma(n_kv + eta)/Gamma(eta)          docs/math (G1)"""
    n = np.bincount(np.asarray(words, dtype=int), minlength=n_words)
    total = gammaln(n_words * eta) - gammaln(n.sum() + n_words * eta)
    return float(total + np.sum(gammaln(n + eta) - gammaln(eta)))


class SplitMerge:
    """Trials of WB Fig. 2 on a list of tables, each a list of words.                             docs/math (M1)"""

    def __init__(self, tables, topic, *, gamma, eta, n_words):
        self.tables, self.topic = tables, list(topic)
        self.gamma, self.eta, self.n_words = gamma, eta, n_words
        self.made = [0, 0, 0, 0]

    def log_f(self, members):
        return log_f([w for c in members for w in self.tables[c]], self.eta, self.n_words)

    def log_odds(self, c, sides):
        """log |S_1| f(X_c | S_1) - log |S_2| f(X_c | S_2)"""
        weight = [math.log(len(S)) + self.log_f([*S, c]) - self.log_f(S) for S in sides]
        return weight[0] - weight[1]

    def scan(self, order, sides, rng, forced=None):
        """Allocate the tables of `order` one by one (drawn, or as forced); return log q and change sides."""
        log_q = 0.0
        for c in order:
            for S in sides:
                if c in S:
                    S.remove(c)
            log_odds = self.log_odds(c, sides)
            if forced is None:
                side = 0 if rng.uniform() < 1 / (1 + math.exp(-log_odds)) else 1
            else:
                side = forced[c]
            log_q -= float(np.logaddexp(0, -log_odds if side == 0 else log_odds))
            sides[side].append(c)
        return log_q

    def log_ratio(self, sides, log_q):
        """log R of the split of S_1 u S_2 into the two"""
        m = [len(S) for S in sides]
        prior = math.log(self.gamma) + math.lgamma(m[0]) + math.lgamma(m[1]) - math.lgamma(sum(m))
        return prior + self.log_f(sides[0]) + self.log_f(sides[1]) - self.log_f(sides[0] + sides[1]) - log_q

    def trial(self, rng, scans):
        M, topic = len(self.tables), self.topic
        a, b = int(rng.uniform() * M), int(rng.uniform() * (M - 1))
        b += b >= a
        order = [c for c in range(M) if topic[c] in (topic[a], topic[b]) and c not in (a, b)]
        for i in range(len(order) - 1, 0, -1):
            j = int(rng.uniform() * (i + 1))
            order[i], order[j] = order[j], order[i]
        split = topic[a] == topic[b]
        sides = [[a], [b]]
        if scans:
            for _ in range(1 + scans):
                self.scan(order, sides, rng)
        forced = None if split else {c: 0 if topic[c] == topic[a] else 1 for c in order}
        log_q = self.scan(order, sides, rng, forced)
        log_ratio = self.log_ratio(sides, log_q)
        accepted = math.log1p(-rng.uniform()) <= (log_ratio if split else -log_ratio)
        self.made[0 if split else 2] += 1
        self.made[1 if split else 3] += accepted
        if accepted and split:
            new = max(topic) + 1
            for c in sides[1]:
                topic[c] = new
        elif accepted:
            old = topic[b]
            for c in range(M):
                if topic[c] == old:
                    topic[c] = topic[a]
