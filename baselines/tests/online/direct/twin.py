"""The bound of direct assignment under a point estimate of the weights, term by term: slow, and of no code of ours.

Shapes: counts (D, W), r (D, W, K), S (W, K), beta (K + 1,), the rest last; eta is a number or a table (W, K).
"""

import numpy as np
from scipy.special import gammaln, psi


def log_normaliser(a):
    return gammaln(a.sum()) - gammaln(a).sum()


def bound(counts, r, S_of_topics, beta, u, alpha, gamma, eta, share):
    """E log p - E log q of documents (times `share`) and topics; theta at its optimum."""
    D, W, K = r.shape
    tau = eta + S_of_topics
    log_phi = psi(tau) - psi(tau.sum(axis=0))
    documents = 0.0
    for d in range(D):
        N = np.append((counts[d][:, None] * r[d]).sum(axis=0), 0.0)
        theta = alpha * beta + N
        log_pi = psi(theta) - psi(theta.sum())
        documents += log_normaliser(alpha * beta) + ((alpha * beta - 1) * log_pi).sum() + (N * log_pi).sum()
        documents -= log_normaliser(theta) + ((theta - 1) * log_pi).sum()
        for w in range(W):
            for k in range(K):
                if r[d, w, k] > 0:
                    documents += counts[d, w] * r[d, w, k] * (log_phi[w, k] - np.log(r[d, w, k]))
    topics = 0.0
    for k in range(K):
        prior = np.broadcast_to(eta, (W, K))[:, k]
        topics += log_normaliser(prior) + ((prior - 1) * log_phi[:, k]).sum()
        topics -= log_normaliser(tau[:, k]) + ((tau[:, k] - 1) * log_phi[:, k]).sum()
    return share * documents + topics + (np.log(gamma) + (gamma - 1) * np.log1p(-u)).sum()


def sticks(beta):
    """u_k of weights, (K,)."""
    left = 1.0 - np.concatenate(([0.0], np.cumsum(beta[:-2])))
    return beta[:-1] / left


def local_step(counts, S, prior, eta, sweeps):
    """Return r of documents after some sweeps, from N_dk in proportion to the prior."""
    tau = eta + S
    log_phi, r = psi(tau) - psi(tau.sum(axis=0)), np.zeros((*counts.shape, prior.size))
    for d, row in enumerate(counts):
        N = row.sum() * prior / prior.sum()
        for _ in range(sweeps):
            logit = log_phi + psi(prior + N)
            r[d] = np.exp(logit - np.logaddexp.reduce(logit, axis=1)[:, None])
            N = row @ r[d]
    return r
