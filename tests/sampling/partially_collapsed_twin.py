"""Slow twin of a sweep of the partially collapsed sampler, written from docs/math (G14): all weights computed anew.

It takes its random numbers in the order of the kernels, so that both make the same draws.
"""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from stickbreak.numerics.streams import key_of

from .reference import Stream


def normal(rng):
    while True:
        x, y = 2 * rng.uniform() - 1, 2 * rng.uniform() - 1
        if 0 < x * x + y * y < 1:
            return x * math.sqrt(-2 * math.log(x * x + y * y) / (x * x + y * y))


def gamma_above(rng, a):
    """Marsaglia and Tsang (2000), a >= 1"""
    d = a - 1 / 3
    while True:
        x = normal(rng)
        v = (1 + x / math.sqrt(9 * d)) ** 3
        if v > 0:
            u = 1 - rng.uniform()
            if u < 1 - 0.0331 * x**4 or math.log(u) < x * x / 2 + d * (1 - v + math.log(v)):
                return d * v


def gamma_number(rng, a):
    """Ahrens and Dieter (1974) below a = 1"""
    if a >= 1:
        return gamma_above(rng, a)
    while True:
        p = (1 + a / math.e) * (1 - rng.uniform())
        if p <= 1:
            x = p ** (1 / a)
            if x < 2**-53 or rng.uniform() <= math.exp(-x):
                return x
        else:
            x = -math.log((1 + a / math.e - p) / a)
            if rng.uniform() <= x ** (a - 1):
                return x


def log_gamma(rng, a):
    return (
        math.log(gamma_above(rng, a)) if a >= 1 else math.log(gamma_above(rng, a + 1)) + math.log(1 - rng.uniform()) / a
    )


class UnusedTopics:
    """The topics without tokens: topic r + R s is stick s of part r."""

    def __init__(self, weight, gamma, eta, n_words, seed):
        self.R, self.gamma, self.eta, self.n_words = math.ceil(gamma), gamma, eta, n_words
        self.sticks, self.words = (int(key_of(*seed, name)) for name in ("sticks", "words of the rest"))
        rng = np.random.Generator(np.random.Philox(key=int(key_of(*seed, "rest"))))
        share = rng.standard_gamma(gamma / self.R, self.R) if self.R > 1 else np.ones(1)
        self.part = weight * share / share.sum()

    def stick(self, e):
        return 1 - (1 - Stream(self.sticks, e).uniform()) ** (self.R / self.gamma)

    def weight(self, e):
        left = self.part[e % self.R]
        for before in range(e % self.R, e, self.R):
            left *= 1 - self.stick(before)
        return left * self.stick(e)

    def at(self, u):
        """The topic at u of the weights laid end to end, part by part"""
        e = 0
        while u >= self.part[e] and e < self.R - 1:
            u -= self.part[e]
            e += 1
        while u >= self.weight(e):
            u -= self.weight(e)
            e += self.R
        return e

    def share(self, e, node, low, high, w):
        """Share of the half of low .. high - 1 that has w, and that half"""
        middle = (low + high) // 2
        rng = Stream(Stream(self.words, e).state, node)
        a, b = (log_gamma(rng, self.eta * n) for n in (middle - low, high - middle))
        return (1 / (1 + math.exp(b - a)), low, middle) if w < middle else (1 / (1 + math.exp(a - b)), middle, high)

    def way(self, e, w):
        """The shares on the way to word w"""
        low, high, node = 0, self.n_words, 1
        while high - low > 1:
            middle = (low + high) // 2
            share, low, high = self.share(e, node, low, high, w)
            node = 2 * node + (w >= middle)
            yield share

    def phi(self, e, w):
        return math.prod(self.way(e, w))

    def says(self, e, w, rng):
        return all(rng.uniform() < share for share in self.way(e, w))


class PartiallyCollapsed:
    """z of the tokens, under weights beta (K + 1,) of which the last is that of the rest."""

    def __init__(self, document, word, n_words, z, beta, alpha, gamma, eta, seed):
        self.document, self.word, self.z, self.beta, self.alpha = document, word, list(z), beta, alpha
        self.K, self.seed, self.paths = len(beta) - 1, seed, Counter()
        self.rest = UnusedTopics(alpha * beta[-1], gamma, eta, n_words, seed)
        key = int(key_of(*seed, "topics"))
        g = np.zeros((self.K, n_words))
        for w in range(n_words):
            rng = Stream(key, w)
            for k in range(self.K):
                n = sum((topic, v) == (k, w) for topic, v in zip(z, word, strict=True))
                g[k, w] = gamma_number(rng, n + eta)
        self.g, self.total = g.astype(np.float32).astype(float), g.sum(axis=1)

    def phi(self, k, w):
        return self.g[k, w] / self.total[k] if k < self.K else self.rest.phi(k - self.K, w)

    def weight(self, k):
        return self.alpha * self.beta[k] if k < self.K else self.rest.weight(k - self.K)

    def run(self):
        for d in sorted(set(self.document)):
            rng, mine = Stream(int(key_of(*self.seed, "tokens")), d), np.flatnonzero(np.array(self.document) == d)
            here, new = list(dict.fromkeys(self.z[i] for i in mine)), []
            for i in mine:
                k, self.z[i] = self.z[i], None
                if k not in [self.z[j] for j in mine]:
                    here[here.index(k)] = here[-1]
                    here.pop()
                k = self.z[i] = self.pick(self.word[i], Counter(self.z[j] for j in mine), here, new, rng)
                if k not in here + new:
                    (here if k < self.K else new).append(k)

    def pick(self, w, n, here, new, rng):
        """Draw k with probability (n_dk + alpha beta_k) phi_kw."""
        K, rest = self.K, float(self.rest.part.sum())
        ways = {
            "document": [(k, n[k] * self.phi(k, w)) for k in here],
            "corpus": [(k, self.weight(k) * self.phi(k, w)) for k in range(K)],
            "new": [(k, n[k] * self.phi(k, w)) for k in new],
        }
        while True:
            u = rng.uniform() * (sum(p for row in ways.values() for _, p in row) + rest)
            for name, row in ways.items():
                for k, p in row:
                    if u < p:
                        self.paths[name] += 1
                        return k
                    u -= p
            e = self.rest.at(u)
            if self.rest.says(e, w, rng):
                self.paths["rest"] += 1
                return K + e
            self.paths["again"] += 1

    def tables(self):
        """Draw m {(document, topic): tables} of the topics of each document, ascending."""
        m = {}
        for d in sorted(set(self.document)):
            rng = Stream(int(key_of(*self.seed, "tables")), d)
            n = Counter(k for k, doc in zip(self.z, self.document, strict=True) if doc == d)
            for k in sorted(n):
                a = self.weight(k)
                m[d, k] = 1 + sum(rng.uniform() * (a + i) < a for i in range(1, n[k]))
        return m
