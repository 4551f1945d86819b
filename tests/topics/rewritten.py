"""The default once more, from the page of mathematics alone: dense, slow, and without the code of the package."""

from itertools import combinations

import numpy as np
from scipy.special import gammaln, psi


def tokens_of(X):
    """Return the documents and the words of all tokens, document by document."""
    d, w = np.nonzero(X)
    return np.repeat(d, X[d, w]), np.repeat(w, X[d, w])


def start(X, K, rng):
    """(L12), (A1), (A2): each token draws a corner word by its own word."""
    n = X.sum(axis=1, keepdims=True).astype(float)
    Q = (X / (n * (n - 1.0))).T @ X
    np.fill_diagonal(Q, Q.diagonal() - (X / (n * (n - 1.0))).sum(axis=0))
    rows = Q / np.maximum(Q.sum(axis=1, keepdims=True), 1e-300)
    rest, corners = np.where(((X > 0).sum(axis=0) >= max(10, np.sqrt(len(X)) / 2))[:, None], rows, 0.0), []
    for _ in range(K):
        corners.append(int(np.argmax((rest**2).sum(axis=1))))
        origin = rows[corners[0]] if len(corners) == 1 else 0.0
        rest = np.where((rest != 0.0).any(axis=1, keepdims=True), rest - origin, 0.0)
        direction = rest[corners[-1]] / max(np.linalg.norm(rest[corners[-1]]), 1e-300)
        rest = rest - np.outer(rest @ direction, direction)
    topics = X.sum() / K * rows[corners] + 0.05
    p = topics[:, tokens_of(X)[1]]
    p /= p.sum(axis=0)
    return np.minimum((p.cumsum(axis=0) < rng.random(p.shape[1])).sum(axis=0), K - 1)


def F(n, a):
    return gammaln(n + a) - gammaln(a)


class Rewritten:
    """A state: topics z of the tokens (d, w) of D documents over W words, and a."""

    def __init__(self, X, z, a, eta, rng):
        self.d, self.w = tokens_of(X)
        (self.D, self.W), self.z, self.a, self.eta, self.rng = X.shape, np.array(z), np.array(a, float), eta, rng
        self.count()

    def count(self):
        K = self.a.size
        self.n_dk, self.n_kw = np.zeros((self.D, K)), np.zeros((K, self.W))
        np.add.at(self.n_dk, (self.d, self.z), 1)
        np.add.at(self.n_kw, (self.z, self.w), 1)
        self.n_k = self.n_kw.sum(axis=1)

    def move(self, i, change):
        k = self.z[i]
        self.n_dk[self.d[i], k] += change
        self.n_kw[k, self.w[i]] += change
        self.n_k[k] += change

    def sweep(self):
        """(L2), word by word."""
        for i in np.lexsort((self.d, self.w)):
            self.move(i, -1)
            phi = (self.n_kw[:, self.w[i]] + self.eta) / (self.n_k + self.W * self.eta)
            p = ((self.n_dk[self.d[i]] + self.a) * phi).cumsum()
            self.z[i] = np.searchsorted(p, self.rng.random() * p[-1], side="right")
            self.move(i, 1)

    def learn(self):
        """(L4)"""
        for _ in range(20):
            a, alpha = self.a, self.a.sum()
            tables = a * (psi(self.n_dk + a) - psi(a)).sum(axis=0)
            self.a = (1.0 / a.size + tables) / (1.0 + (psi(self.n_dk.sum(axis=1) + alpha) - psi(alpha)).sum())

    def plain(self, k, l):  # noqa: E741
        """(L13)"""

        def rise(n, a, of_both):
            return (F(n[k] + n[l], of_both) - F(n[k], a[0]) - F(n[l], a[1])).sum()

        eta, total, a = self.eta, self.W * self.eta, self.a[[k, l]]
        words = rise(self.n_kw, (eta, eta), eta) - rise(self.n_k, (total, total), total)
        return words + rise(self.n_dk.T, a, a.sum())

    def gain(self, k, l):  # noqa: E741
        """(L14)"""
        pair, W, eta, own = [k, l], self.W, self.eta, np.flatnonzero((self.z == k) | (self.z == l))
        fit = (self.n_kw[pair] + eta) / (self.n_k[pair] + W * eta)[:, None]
        estimates = []
        for given in (self.z[own] == l, None):
            n_d, n_w, n, estimate = np.zeros((self.D, 2)), np.zeros((2, W)), np.zeros(2), 0.0
            for t, (d, w) in enumerate(zip(self.d[own], self.w[own], strict=True)):
                q = (n_d[d] + self.a[pair]) * fit[:, w]
                q /= q.sum()
                c = int(self.rng.random() >= q[0]) if given is None else int(given[t])
                one = (n_d[d].sum() + self.a[pair].sum()) * (n_w[:, w].sum() + eta) / (n.sum() + W * eta)
                estimate += np.log(one * q[c] * (n[c] + W * eta) / ((n_d[d, c] + self.a[pair[c]]) * (n_w[c, w] + eta)))
                n_d[d, c] += 1
                n_w[c, w] += 1
                n[c] += 1
            estimates.append(estimate)
        return np.mean(estimates)

    def merge(self):
        """(L15): a round; return whether topics merged."""
        used, near = np.flatnonzero(self.n_k), set()
        plain = {pair: self.plain(*pair) for pair in combinations(used, 2)}
        for k in used:
            mine = [pair for pair in plain if k in pair]
            mine.sort(key=lambda pair: -plain[pair] / min(self.n_k[list(pair)]))
            near |= {pair for pair in mine[:5] if plain[pair] > 0}
        gains = {pair: self.gain(*pair) for pair in sorted(near)}
        into, free = np.arange(self.a.size), set(used)
        for k, l in sorted(gains, key=lambda pair: -gains[pair]):  # noqa: E741
            if gains[k, l] > 0 and {k, l} <= free:
                into[l] = k
                free -= {k, l}
        names, place = np.unique(into[used], return_inverse=True)
        number = dict(zip(used, place, strict=True))
        self.z = np.array([number[k] for k in self.z])
        self.a = np.bincount(place, self.a[used])
        self.count()
        return names.size < used.size

    def halve(self, room):
        """(L20)"""
        K, split = self.a.size, np.argsort(-self.n_k)[:room]
        coins = self.rng.integers(2, size=(self.D, K))
        second = dict(zip(split, range(K, K + split.size), strict=True))
        of_tokens = zip(self.d, self.z, strict=True)
        self.z = np.array([second[k] if k in second and coins[d, k] else k for d, k in of_tokens])
        self.a[split] /= 2
        self.a = np.append(self.a, self.a[split])
        self.count()


def fit(X, K, alpha, eta, rng, n_passes):
    """Return the state after passes."""
    state, quiet, whole, since = Rewritten(X, start(X, K, rng), [alpha / K] * K, eta, rng), 0, 0, 0
    for number in range(1, n_passes + 1):
        state.sweep()
        if number >= 10 and number % 5 == 0:
            state.learn()
        if quiet < 3 and number >= (since + 20 if since else 40) and number % 5 == 0:
            quiet = 0 if state.merge() else quiet + 1
            if quiet == 3 and state.a.size > 1.1 * whole and state.a.size < K:
                whole, since, quiet = state.a.size, number, 0
                state.halve(K - state.a.size)
    return state
