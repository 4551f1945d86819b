"""Slow NumPy twins of the hybrid, written from docs/math (B1): exact laws of small documents, kernels draw by draw."""

from __future__ import annotations

import itertools
import math
from functools import cache

import numpy as np
from scipy.special import digamma


@cache
def stirling(n, m):
    """Unsigned Stirling numbers of the first kind, exact integers."""
    if n == m:
        return 1
    if m < 1 or m > n:
        return 0
    return stirling(n - 1, m - 1) + (n - 1) * stirling(n - 1, m)


def conditional(n, m, w, e, phi):
    """Weights of (k, joins or opens) for a token of word w, its own counts out; e = b1 g, phi (K, W). docs/math (B1)"""
    out = np.zeros((len(e), 2))
    for k in range(len(e)):
        a, b = int(n[k]), int(m[k])
        if a == 0:
            out[k, 1] = e[k] * phi[k, w]
        else:
            out[k, 1] = e[k] * phi[k, w] * stirling(a + 1, b + 1) / stirling(a, b) * (b + 1) / (a + 1)
            out[k, 0] = phi[k, w] * stirling(a + 1, b) / stirling(a, b) * (a - b + 1) / (a + 1)
    return out


def states(n_tokens, n_topics):
    """Every (z, m) of a document."""
    found = []
    for z in itertools.product(range(n_topics), repeat=n_tokens):
        n = [z.count(k) for k in range(n_topics)]
        found += [(z, m) for m in itertools.product(*[range(1, a + 1) if a else (0,) for a in n])]
    return found


def log_target(state, words, e, phi):
    """log q*(z, m) = m. log b1 + sum_k m_k log g_k + log s(n_k, m_k) + sum_i log phi                  docs/math (B1)"""
    z, m = state
    value = sum(math.log(phi[k, w]) for k, w in zip(z, words, strict=True))
    for k in range(len(e)):
        if m[k]:
            value += m[k] * math.log(e[k]) + math.log(stirling(z.count(k), m[k]))
    return value


def law(words, e, phi):
    """Return (states, probabilities, log of the sum)."""
    found = states(len(words), len(e))
    log_p = np.array([log_target(state, words, e, phi) for state in found])
    log_z = float(np.logaddexp.reduce(log_p))
    return found, np.exp(log_p - log_z), log_z


def alias_law(prob, alias):
    """Return the distribution that an alias table draws from."""
    out = np.asarray(prob, dtype=float) / len(prob)
    np.add.at(out, np.asarray(alias), (1 - np.asarray(prob)) / len(prob))
    return out


def word_weights(counts, eta, kind):
    """phi~ (W, K) of expected tokens (W, K)                                                           docs/math (B1)"""
    tau = counts + eta
    if kind == "ratio":
        return tau / tau.sum(axis=0)
    return np.exp(digamma(tau) - digamma(tau.sum(axis=0)))


class Document:
    """A document sampled draw by draw: the topics that are there stand in a list, in the order of the kernel."""

    def __init__(self, words, e, phi, rng, draw_other, factors):
        self.words, self.e, self.phi, self.rng, self.factors = words, e, phi, rng, factors
        self.draw_other = draw_other  # (w, None | set of topics that are there, rest of u) -> topic
        self.here: list[int] = []
        self.n: dict[int, int] = {}
        self.m: dict[int, int] = {}
        self.z: list[int] = []

    def start(self):
        for w in self.words:
            inside = [self.n[k] * self.phi[k, w] for k in self.here]
            u = self.rng.uniform() * (sum(inside) + self.e @ self.phi[:, w])
            k = self.walk(inside, u)
            if k is None:
                k = self.draw_other(w, set(), u - sum(inside))
            if k not in self.here:
                self.here.append(k)
                self.n[k], self.m[k] = 0, 1
            self.n[k] += 1
            self.z.append(k)

    def walk(self, weights, u):
        for k, weight in zip(self.here, weights, strict=True):
            u -= weight
            if u < 0:
                return k
        return None

    def parts(self, k):
        """Weights of opening and of joining a table of a topic that is there, without the word"""
        digamma_gain, joined = self.factors[self.n[k], self.m[k]]
        return self.e[k] * digamma_gain, joined

    def sweep(self):
        for i, w in enumerate(self.words):
            k = self.z[i]
            head = self.rng.uniform() * self.n[k] < self.m[k]
            if head and self.m[k] == 1 and self.n[k] > 1:
                continue
            self.n[k] -= 1
            self.m[k] -= head
            if self.n[k] == 0:
                self.here[self.here.index(k)] = self.here[-1]
                self.here.pop()
            inside = [sum(self.parts(j)) * self.phi[j, w] for j in self.here]
            rest = sum(self.e[j] * self.phi[j, w] for j in range(len(self.e)) if j not in self.here)
            k = self.walk(inside, self.rng.uniform() * (sum(inside) + rest))
            opens = True
            if k is None:
                k = self.draw_other(w, set(self.here), None)
                self.here.append(k)
                self.n[k] = self.m[k] = 0
            else:
                digamma_gain, joined = self.parts(k)
                opens = self.rng.uniform() * (digamma_gain + joined) < digamma_gain
            self.n[k] += 1
            self.m[k] += opens
            self.z[i] = k
