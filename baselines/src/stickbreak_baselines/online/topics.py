"""The evidence of topics: what moves are judged by."""

from __future__ import annotations

from scipy.special import gammaln

from stickbreak.numerics.arrays import Float
from stickbreak.numerics.pseudo_counts import Eta


def evidence(S: Float, eta: Eta, total_eta: float, more: float = 0.0) -> Float:
    """Return c_D(eta) - c_D(eta + S_k) of topics, (K,), from their words, (K, n).                       docs/math (V3)

    Parameters
    ----------
    S : ndarray of shape (K, n)
        Words that are left out have no tokens, or the same in what is compared.
    eta : float or ndarray of shape (n,)
        Of these words.
    total_eta : float
        Of all words.
    more : float, default=0.0
        Tokens of words that are left out.
    """
    N = S.sum(axis=1) + more
    found: Float = gammaln(total_eta) - gammaln(total_eta + N) + (gammaln(eta + S) - gammaln(eta)).sum(axis=1)
    return found
