"""q(phi) from the statistics, for words and for vectors: the table `tau` and the totals `tau_sum` of the globals.

Of words, tau = posterior(S) is what the local step reads; a batch changes only the rows of its own words. Of vectors,
a family's parameters are no table: the globals keep S and N themselves, and the local step asks the family for the
parameters that follow from them (SPEC 1.11).
"""

from __future__ import annotations

import numpy as np

from stickbreak.likelihoods import Likelihood, VectorLikelihood
from stickbreak.variational.state import Float, GlobalParameters, Summary

AnyLikelihood = Likelihood | VectorLikelihood


def table(likelihood: AnyLikelihood, S: Float) -> Float:
    """Return the rows of tau that belong to rows of S."""
    return S.copy() if isinstance(likelihood, VectorLikelihood) else likelihood.posterior(S)


def whole_table(likelihood: AnyLikelihood, S: Float, N: Float) -> tuple[Float, Float]:
    """Return tau and tau_sum of all rows."""
    tau = table(likelihood, S)
    return tau, N.copy() if isinstance(likelihood, VectorLikelihood) else tau.sum(axis=0)


def followed(
    likelihood: AnyLikelihood, before: GlobalParameters, S: Float, N: Float, rho: Float, omega: Float
) -> GlobalParameters:
    """Return the globals after the statistics of their rows have become S."""
    tau = table(likelihood, S)
    vectors = isinstance(likelihood, VectorLikelihood)
    tau_sum = N.copy() if vectors else before.tau_sum + (tau - before.tau).sum(axis=0)
    return GlobalParameters(tau, tau_sum, rho, omega)


def follow_batch(likelihood: AnyLikelihood, parameters: GlobalParameters, totals: Summary, words: np.ndarray) -> None:
    """Set q(phi) from totals of which only the rows `words` have changed, in place."""
    tau = table(likelihood, totals.S[words])
    vectors = isinstance(likelihood, VectorLikelihood)
    parameters.tau_sum = totals.N.copy() if vectors else parameters.tau_sum + (tau - parameters.tau[words]).sum(axis=0)
    parameters.tau[words] = tau


def rows_table(likelihood: AnyLikelihood, S: Float, N: Float, n_rows: int) -> tuple[Float, Float]:
    """Return the rows of tau that belong to rows of S, and tau_sum of all `n_rows`; N is the sum of all of S."""
    if isinstance(likelihood, VectorLikelihood):
        return S, N
    return likelihood.posterior(S), N + likelihood.posterior(np.zeros((n_rows, 1))).sum()


def counts_behind(likelihood: AnyLikelihood, parameters: GlobalParameters) -> tuple[Float, Float]:
    """Return S and N behind the globals; the arrays are copies."""
    if isinstance(likelihood, VectorLikelihood):
        return parameters.tau.copy(), parameters.tau_sum.copy()
    counts = np.maximum(parameters.tau - likelihood.posterior(np.zeros((parameters.tau.shape[0], 1))), 0.0)
    return counts, counts.sum(axis=0)


def data_terms(likelihood: AnyLikelihood, S: Float, N: Float, S_globals: Float, N_globals: Float) -> Float:
    """Return L_data of each topic for statistics S, N under the globals that others lead to, (K,)."""
    if isinstance(likelihood, VectorLikelihood):
        return likelihood.objective(S, N, likelihood.posterior(S_globals, N_globals))
    return likelihood.objective(S, likelihood.posterior(S_globals))
