"""Topics and the tokens of one part of the documents, while the topics are joined (math.md (J2), (J3))."""

from __future__ import annotations

import numpy as np

from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.pseudo_counts import Eta, factor_of, of_words, total_of
from stickbreak.path.kernels import joins as join_kernels
from stickbreak.path.unseen import Evidence

LEAST_WEIGHT = 1e-3  # of two topics in a document, for the gain of their join to be computed there
ROUNDED = 1e-9  # of a probability that is left of it: below, the difference of two may be rounding


class ScoredPart:
    """K rows of topics, as they were learned without the documents of this part. Rows that are gone have no weight.

    Attributes
    ----------
    tokens : HeldOutTokens
    tau : ndarray of shape (K, W')
        S_kw + eta of the words of the tokens.
    mass : ndarray of shape (K,)
        N_k + W eta.
    theta : ndarray of shape (K, D)
    p : ndarray of shape (I,)
        Probability of each count's word in its document.
    """

    def __init__(self, evidence: Evidence, eta: Eta, n_words: int) -> None:
        self.tokens, self.total_eta = evidence.tokens, float(total_of(eta, n_words))
        self.eta = of_words(eta, evidence.tokens.words)
        self.tau, self.mass = evidence.tau.copy(), evidence.mass.copy()
        self.theta = evidence.theta.T.copy()
        self._document = self.tokens.document
        self.p = np.empty(self.tokens.word.size)
        self.predict()

    def log_p(self) -> Float:
        """Return the log probability of the tokens of each document, (D,)."""
        of_counts = self.tokens.count * np.log(self.p)
        return np.bincount(self._document, of_counts, minlength=self.tokens.n_documents).astype(np.float64)

    def predict(self) -> None:
        """Make p again."""
        join_kernels.predict(self.tokens.indptr, self.tokens.word, self.theta, self.tau, self.mass, self.p)

    def join(self, a: int, b: int) -> bool:
        """Give all that row b has to row a; return whether rounding may have spoilt a probability."""
        of_topics = self.theta, self.tau, self.mass, self.eta, self.total_eta
        least = join_kernels.follow(self.tokens.indptr, self.tokens.word, *of_topics, a, b, self.p)
        self.tau[a] += self.tau[b] - self.eta
        self.mass[a] += self.mass[b] - self.total_eta
        self.theta[a] += self.theta[b]
        self.theta[b] = 0.0
        return not least >= ROUNDED


class JoinedPart(ScoredPart):
    """The rows of a part that says which of them join.

    Attributes
    ----------
    inverse : ndarray of shape (I,)
        1 / p.
    """

    inverse: Float

    def join(self, a: int, b: int) -> bool:
        """Give all that row b has to row a; return whether rounding may have spoilt a probability."""
        masses = float(self.mass[a]), float(self.mass[b])
        spoilt = super().join(a, b)
        self.inverse = 1.0 / self.p
        self._follow(a, b, *masses)
        return spoilt

    def gains(self, pairs: Int) -> Float:
        """Return what the joins of pairs of rows, (n, 2), gain, (n,).                                math.md (J2)"""
        tokens, out = self.tokens, np.empty(len(pairs))
        settings = (self.inverse, self.theta, self.tau, self.mass, self.eta, self.total_eta, LEAST_WEIGHT)
        join_kernels.gains(tokens.indptr, tokens.word, tokens.count, *settings, pairs, out)
        return out

    def refresh(self, kept: Int) -> None:
        """Keep these rows, and make p, X and Y again.                                                math.md (J3)"""
        tokens = self.tokens
        self.tau, self.mass, self.theta = self.tau[kept], self.mass[kept], self.theta[kept]
        self.predict()
        self.inverse = 1.0 / self.p
        ratio, of_documents = tokens.count * self.inverse, np.empty(self.theta.shape)
        join_kernels.shares_of_documents(tokens.indptr, tokens.word, ratio, self.tau, self.mass, of_documents)
        self._X = self.theta @ of_documents.T
        of_eta = ratio * self.eta[tokens.word] if isinstance(self.eta, np.ndarray) else ratio
        self._Y = self.theta @ tokens.by_document(of_eta)

    def bound(self, k: int) -> Float:
        """Return what the joins of row k gain at most, (K,): sum_i c_i (p_i' - p_i) / p_i.           math.md (J3)"""
        X, Y, mass, own = self._X, self._Y, self.mass, np.diag(self._X)
        mixed = mass[k] * (own[k] + X[:, k]) + mass * (X[k] + own) - factor_of(self.eta) * (Y[k] + Y)
        return np.asarray(mixed / (mass[k] + mass - self.total_eta) - own[k] - own)

    def _follow(self, a: int, b: int, mass_a: float, mass_b: float) -> None:
        """Let X and Y follow the join of row b into row a, with p as it was at the last refresh."""
        X, Y = self._X, self._Y
        X[a] += X[b]
        Y[a] += Y[b]
        X[:, a] = (mass_a * X[:, a] + mass_b * X[:, b] - factor_of(self.eta) * Y) / self.mass[a]
