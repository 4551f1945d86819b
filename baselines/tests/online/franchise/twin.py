"""The mean field of Wang, Paisley and Blei (2011), written token by token from the paper: slow, and of no code of ours.

Every token has its own z, so counts are written out. Shapes: zeta (n, T), sigma (T, K), log_phi (W, K).
"""

import numpy as np
from scipy.special import betaln, gammaln, psi


def entropy(p):
    return float(-np.sum(p[p > 0] * np.log(p[p > 0])))


def log_sticks(a, b):
    """E log of the pieces of a stick; the last piece takes the rest."""
    out = np.zeros(len(a) + 1)
    for k in range(len(a) + 1):
        for j in range(k):
            out[k] += psi(b[j]) - psi(a[j] + b[j])
        if k < len(a):
            out[k] += psi(a[k]) - psi(a[k] + b[k])
    return out


def kl_of_sticks(a, b, concentration):
    """E log p - E log q of sticks u ~ Beta(1, concentration), q = Beta(a, b)."""
    total = 0.0
    for x, y in zip(a, b, strict=True):
        log_u, log_rest = psi(x) - psi(x + y), psi(y) - psi(x + y)
        total += np.log(concentration) + (concentration - 1) * log_rest
        total -= (x - 1) * log_u + (y - 1) * log_rest - betaln(x, y)
    return total


class Document:
    """The factors of a document."""

    def __init__(self, words, log_phi, log_beta, alpha, zeta):
        self.words, self.log_phi, self.log_beta, self.alpha = words, log_phi, log_beta, alpha
        self.zeta, self.n_tables = zeta.copy(), zeta.shape[1]
        self.set_sticks()
        self.sigma = None

    def set_sticks(self):
        tokens = self.zeta.sum(axis=0)
        self.a = np.array([1 + tokens[t] for t in range(self.n_tables - 1)])
        self.b = np.array([self.alpha + tokens[t + 1 :].sum() for t in range(self.n_tables - 1)])

    def sweep(self, sticks=True):
        K = len(self.log_beta)
        logit = np.array([[
            sticks * self.log_beta[k] + sum(self.zeta[n, t] * self.log_phi[w, k] for n, w in enumerate(self.words))
            for k in range(K)] for t in range(self.n_tables)])  # fmt: skip
        self.sigma = np.exp(logit - np.logaddexp.reduce(logit, axis=1)[:, None])
        log_pi = sticks * log_sticks(self.a, self.b)
        logit = np.array([[log_pi[t] + self.sigma[t] @ self.log_phi[w] for t in range(self.n_tables)]
                          for w in self.words])  # fmt: skip
        self.zeta = np.exp(logit - np.logaddexp.reduce(logit, axis=1)[:, None])
        self.set_sticks()

    def bound(self):
        """What the document adds: E log p(x, z, c, v) - E log q(z, c, v)."""
        log_pi = log_sticks(self.a, self.b)
        words = sum(self.zeta[n] @ self.sigma @ self.log_phi[w] for n, w in enumerate(self.words))
        topics = sum(self.sigma[t] @ self.log_beta + entropy(self.sigma[t]) for t in range(self.n_tables))
        tables = sum(self.zeta[n] @ log_pi + entropy(self.zeta[n]) for n in range(len(self.words)))
        return words + topics + tables + kl_of_sticks(self.a, self.b, self.alpha)

    def statistics(self, n_words):
        """S (W, K) and M (K,)."""
        S = np.zeros((n_words, len(self.log_beta)))
        for n, w in enumerate(self.words):
            S[w] += self.zeta[n] @ self.sigma
        return S, self.sigma.sum(axis=0)


def log_topics(S, eta):
    tau = S + eta
    return psi(tau) - psi(tau.sum(axis=0))


def bound_of_topics(S, eta):
    """E log p(phi) - E log q(phi), summed over topics; eta is a number or a table (W, K)."""
    tau, log_phi, prior = S + eta, log_topics(S, eta), np.broadcast_to(eta, S.shape)
    total = 0.0
    for k in range(S.shape[1]):
        total += gammaln(prior[:, k].sum()) - gammaln(prior[:, k]).sum() + ((prior[:, k] - 1) * log_phi[:, k]).sum()
        total -= gammaln(tau[:, k].sum()) - gammaln(tau[:, k]).sum() + ((tau[:, k] - 1) * log_phi[:, k]).sum()
    return total


def sticks_of(tables, gamma):
    K = len(tables)
    return np.array([1 + tables[k] for k in range(K - 1)]), np.array(
        [gamma + tables[k + 1 :].sum() for k in range(K - 1)]
    )
