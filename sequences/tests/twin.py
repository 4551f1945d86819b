"""Chains slowly: every path of states, or plain loops over NumPy arrays."""

import itertools

import numpy as np
from scipy.special import entr, gammaln, logsumexp, psi


def all_paths(log_weights, log_start, log_move):
    """Return log Z, q(z_t) (n, K), starts and moves (K + 1, K) and the entropy of one sequence by all its paths."""
    n, K = log_weights.shape
    paths = list(itertools.product(range(K), repeat=n))
    value = np.array(
        [
            log_start[p[0]]
            + sum(log_weights[t, p[t]] for t in range(n))
            + sum(log_move[a, b] for a, b in itertools.pairwise(p))
            for p in paths
        ]
    )
    log_z = logsumexp(value)
    q = np.exp(value - log_z)
    share, moves = np.zeros((n, K)), np.zeros((K + 1, K))
    for p, probability in zip(paths, q, strict=True):
        for t in range(n):
            share[t, p[t]] += probability
        moves[0, p[0]] += probability
        for a, b in itertools.pairwise(p):
            moves[a + 1, b] += probability
    return log_z, share, moves, entr(q).sum(), paths[int(value.argmax())]


def forward_backward(log_weights, log_start, log_move):
    """Return log Z, q(z_t) (n, K) and q(z_t, z_t+1) (n - 1, K, K) of one sequence, in logs."""
    n, K = log_weights.shape
    ahead, behind = np.empty((n, K)), np.zeros((n, K))
    ahead[0] = log_start + log_weights[0]
    for t in range(1, n):
        ahead[t] = logsumexp(ahead[t - 1][:, None] + log_move, axis=0) + log_weights[t]
    for t in range(n - 2, -1, -1):
        behind[t] = logsumexp(log_move + (log_weights[t + 1] + behind[t + 1])[None], axis=1)
    log_z = logsumexp(ahead[-1])
    pairs = [ahead[t][:, None] + log_move + (log_weights[t + 1] + behind[t + 1])[None] - log_z for t in range(n - 1)]
    return log_z, np.exp(ahead + behind - log_z), np.exp(np.array(pairs).reshape(n - 1, K, K))


def markov_entropy(share, pairs):
    """Return the entropy of the Markov chain with these probabilities of states and of neighbours."""
    return entr(share[0]).sum() + sum(
        entr(pair).sum() - entr(one).sum() for pair, one in zip(pairs, share[:-1], strict=True)
    )


def log_normaliser(a):
    """Return c_D(a) = log Gamma(sum a) - sum log Gamma(a)."""
    return gammaln(a.sum()) - gammaln(a).sum()


def row_term(theta, prior, counts):
    """Return what a row of transitions adds to the objective, but for E[c_D(prior)], at any theta."""
    log_pi = psi(theta) - psi(theta.sum())
    return -log_normaliser(theta) + (counts + prior - theta) @ log_pi
