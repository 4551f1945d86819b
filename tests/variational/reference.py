"""Slow NumPy twins of the variational HDP, written from docs/math, the model, one document and one topic at a time.

A document is (words, counts); r[d] is (U_d, K); theta is (D, K + 1); statistics and tau are word-major, (W, K).
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy.special import gammaln, polygamma, psi
from scipy.stats import beta as beta_density


def documents_of(corpus):
    """The documents of a corpus as (words, counts) pairs."""
    c = corpus.counts
    return [(c.indices[a:b].copy(), c.data[a:b].astype(float)) for a, b in pairwise(c.indptr)]


def expected_beta(rho):
    """E[beta_1..beta_K, beta_{>K}]                                                  docs/math, the model"""
    out, rest = [], 1.0
    for mean in rho:
        out.append(mean * rest)
        rest *= 1.0 - mean
    return np.array([*out, rest])


def expected_log_sticks(rho, omega):
    """E log u_k, E log(1 - u_k)                                                     docs/math, the model"""
    return psi(rho * omega) - psi(omega), psi((1 - rho) * omega) - psi(omega)


def dirichlet_normaliser(a):
    """c_D(a) = log Gamma(sum a) - sum log Gamma(a)"""
    return gammaln(np.sum(a)) - np.sum(gammaln(a))


def expected_log_normaliser(rho, omega, alpha):
    """E[c_D(alpha beta)]_sur from sum_{k <= K+1} E log beta_k, stick by stick.      docs/math (V2)"""
    log_u, log_rest = expected_log_sticks(rho, omega)
    total, passed = 0.0, 0.0
    for k in range(rho.size):
        total += np.log(alpha) + passed + log_u[k]  # log alpha + E log beta_k
        passed += log_rest[k]
    return total + passed  # E log beta_{>K}


def expected_squares(rho, omega):
    """E[beta_k^2] of every topic and of the rest, (K + 1,), from the moments of Beta(a, b).      docs/math (V13)"""
    a, b = rho * omega, (1 - rho) * omega
    of_u, of_rest = a * (a + 1) / (omega * (omega + 1)), b * (b + 1) / (omega * (omega + 1))
    out = [of_u[k] * np.prod(of_rest[:k]) for k in range(rho.size)]
    return np.array([*out, np.prod(of_rest)])


def quadratic_gain(rho, omega, alpha):
    """What the quadratic bound of E[c_D] is above the surrogate.                    docs/math (V13)"""
    squares = expected_squares(rho, omega).sum()
    return max(0.0, gammaln(1 + alpha) + np.euler_gamma * alpha - np.pi**2 / 12 * alpha**2 * squares)


def bound_of_normaliser(rho, omega, alpha, bound):
    """The surrogate or the quadratic lower bound of E[c_D(alpha beta)], or c_D itself.  docs/math (V2), (V13), (V23)"""
    if bound == "point":
        return dirichlet_normaliser(alpha * expected_beta(rho))
    gain = quadratic_gain(rho, omega, alpha) if bound == "quadratic" else 0.0
    return expected_log_normaliser(rho, omega, alpha) + gain


def objective_terms(docs, r, theta, tau, rho, omega, *, alpha, gamma, eta, bound="surrogate"):
    """The four terms of L and their sum, directly from q.                           docs/math (V1)"""
    n_words, n_topics = tau.shape
    expected_log_phi = psi(tau) - psi(tau.sum(axis=0))
    beta = expected_beta(rho)
    data = entropy = hdp = 0.0
    for d, (words, counts) in enumerate(docs):
        tokens = np.zeros(n_topics + 1)
        for i, w in enumerate(words):
            for k in range(n_topics):
                if r[d][i, k] > 0:
                    x = counts[i] * r[d][i, k]
                    data += x * expected_log_phi[w, k]
                    entropy -= x * np.log(r[d][i, k])
                    tokens[k] += x
        expected_log_pi = psi(theta[d]) - psi(theta[d].sum())
        hdp += bound_of_normaliser(rho, omega, alpha, bound) - dirichlet_normaliser(theta[d])
        hdp += float(np.sum((tokens + alpha * beta - theta[d]) * expected_log_pi))
    prior = np.full(n_words, eta)
    for k in range(n_topics):
        data += dirichlet_normaliser(prior) - dirichlet_normaliser(tau[:, k])
        data += float(np.sum((prior - tau[:, k]) * expected_log_phi[:, k]))
    u = 0.0
    for k in range(n_topics):  # minus the divergence of q(u_k) from Beta(1, gamma), or its log density at a point
        if bound == "point":
            u += beta_density.logpdf(rho[k], 1.0, gamma)
            continue
        a, b = rho[k] * omega[k], (1 - rho[k]) * omega[k]
        u += dirichlet_normaliser([1.0, gamma]) - dirichlet_normaliser([a, b])
        u += (1 - a) * (psi(a) - psi(omega[k])) + (gamma - b) * (psi(b) - psi(omega[k]))
    return {"data": data, "Hz": entropy, "hdp": hdp, "u": u, "total": data + entropy + hdp + u}


def statistics(docs, r, theta, n_words):
    """All additive statistics of a set of documents.                                docs/math (V8)"""
    n_topics = theta.shape[1] - 1
    S, H = np.zeros((n_words, n_topics)), np.zeros(n_topics)
    T, G, Q = np.zeros(n_topics + 1), np.zeros(n_topics + 1), np.zeros(n_topics + 1)
    Q0 = 0.0
    for (words, counts), r_d, theta_d in zip(docs, r, theta, strict=True):
        for i, w in enumerate(words):
            S[w] += counts[i] * r_d[i]
            H -= counts[i] * xlogx(r_d[i])
        tokens = np.append(counts @ r_d, 0.0)
        expected_log_pi = psi(theta_d) - psi(theta_d.sum())
        T += expected_log_pi
        G += (tokens - theta_d) * expected_log_pi
        Q += gammaln(theta_d)
        Q0 += gammaln(theta_d.sum())
    return {"D": len(docs), "S": S, "N": S.sum(axis=0), "H": H, "T": T, "G": G, "Q": Q, "Q0": Q0}


def xlogx(x):
    """x log x with 0 log 0 = 0."""
    return np.where(x > 0, x * np.log(np.where(x > 0, x, 1.0)), 0.0)


def local_step(doc, tau, prior, start=None, left=None, *, tolerance=1e-4, max_sweeps=100):
    """(r, N_d, sweeps) of one document: no topic is dropped, r in log space.        docs/math (V5)

    `start` is N_d of an earlier visit, (K,); None is the cold start at E[beta]. `left` marks the topics that had
    left the document by then, (K,): they stay out.
    """
    words, counts = doc
    n_topics = prior.size - 1
    tokens = np.zeros(n_topics) if start is None else np.array(start, dtype=float)
    if words.size == 0:
        return np.zeros((0, n_topics)), np.zeros(n_topics), 0
    expected_log_phi = (psi(tau) - psi(tau.sum(axis=0)))[words]
    if left is not None:
        expected_log_phi[:, left] = -np.inf
    log_weight = np.log(prior[:-1]) if start is None else psi(prior[:-1] + tokens)
    sweeps = 0
    while True:
        log_r = log_weight + expected_log_phi
        log_r -= log_r.max(axis=1, keepdims=True)
        r = np.exp(log_r)
        r /= r.sum(axis=1, keepdims=True)
        new = counts @ r
        sweeps += 1
        moved = np.abs(new - tokens).max()
        tokens = new
        if moved < tolerance or sweeps >= max_sweeps:
            return r, tokens, sweeps
        log_weight = psi(prior[:-1] + tokens)


def stick_objective(rho, omega, T, n_documents, alpha, gamma, bound="surrogate"):
    """L_G.                                                                   docs/math (V10), (V13), (V23)"""
    n_topics = rho.size
    if bound == "point":  # with the constants, K log gamma and D K log alpha
        normaliser = n_documents * dirichlet_normaliser(alpha * expected_beta(rho))
        prior = beta_density.logpdf(rho, 1.0, gamma).sum()
        constants = n_topics * (np.log(gamma) + n_documents * np.log(alpha))
        return normaliser + prior - constants + alpha * float(np.sum(expected_beta(rho) * T))
    log_u, log_rest = expected_log_sticks(rho, omega)
    total = alpha * float(np.sum(expected_beta(rho) * T))
    for k in range(n_topics):
        a, b = rho[k] * omega[k], (1 - rho[k]) * omega[k]
        total -= dirichlet_normaliser([a, b])
        total += (n_documents + 1 - a) * log_u[k]
        total += (n_documents * (n_topics - k) + gamma - b) * log_rest[k]
    return total + (n_documents * quadratic_gain(rho, omega, alpha) if bound == "quadratic" else 0.0)


def stick_gradient(rho, omega, T, n_documents, alpha, gamma):
    """(dL_G/drho, dL_G/domega) with Delta as a full matrix.                         docs/math (V10)"""
    n_topics = rho.size
    beta = expected_beta(rho)
    delta = np.zeros((n_topics, n_topics + 1))
    for m in range(n_topics):
        delta[m, m] = beta[m] / rho[m]
        delta[m, m + 1 :] = -beta[m + 1 :] / (1 - rho[m])
    a, b = rho * omega, (1 - rho) * omega
    from_a = n_documents + 1 - a
    from_b = n_documents * (n_topics - np.arange(n_topics)) + gamma - b
    by_a, by_b, by_omega = polygamma(1, a), polygamma(1, b), polygamma(1, omega)
    return (
        omega * (from_a * by_a - from_b * by_b) + alpha * delta @ T,
        from_a * (rho * by_a - by_omega) + from_b * ((1 - rho) * by_b - by_omega),
    )


def pooled(r, theta, keep, gone):
    """(r, theta) with topic `gone` pooled into `keep` and left out.                 docs/math (V12)"""
    new_r = []
    for r_d in r:
        x = r_d.copy()
        x[:, keep] += x[:, gone]
        new_r.append(np.delete(x, gone, axis=1))
    new_theta = theta.copy()
    new_theta[:, keep] += new_theta[:, gone]
    return new_r, np.delete(new_theta, gone, axis=1)


def without_topic(r, theta, topic):
    """(r, theta) of documents that do not hold a topic, its theta dropped.       docs/math (V18)"""
    assert all((x[:, topic] == 0).all() for x in r), "a document outside the target holds the topic"
    return [np.delete(x, topic, axis=1) for x in r], np.delete(theta, topic, axis=1)


def document_value(doc, r, tau, prior):
    """L_d after the theta update: sum_k lG(theta_k) - lG(prior_k) + sum_w c r (E log phi - log r).   docs/math (V5)"""
    words, counts = doc
    expected_log_phi = (psi(tau) - psi(tau.sum(axis=0)))[words]
    theta = prior[:-1] + counts @ r
    with_r = np.where(r > 0, r, 1.0)
    data = np.sum(counts[:, None] * r * (np.where(r > 0, expected_log_phi, 0.0) - np.log(with_r)))
    return float(np.sum(gammaln(theta) - gammaln(prior[:-1])) + data)


def sparse_restarts(doc, r, tau, prior, most, *, sweeps=4, tokens=1e-3, sole=1e-9, gain=1e-9, hope=-3.0):
    """(r, topics left out, restarts tried): each of the smallest topics is left out if that raises L_d.  docs/math (V5)

    Where (V17) is below `hope` nats, the topic stays without further sweeps.
    """
    words, counts = doc
    expected_log_phi = (psi(tau) - psi(tau.sum(axis=0)))[words]
    left, seen = np.zeros(prior.size - 1, dtype=bool), set()
    value = document_value(doc, r, tau, prior)
    log_pi = psi(prior[:-1] + counts @ r)
    n_active = int((counts @ r > 1e-20 * counts.sum()).sum())
    for _ in range(min(most, n_active - 1)):
        n_k = counts @ r
        free = [k for k in range(n_k.size) if n_k[k] > tokens and k not in seen]
        if not free or (n_k > 1e-20 * counts.sum()).sum() < 2:
            break
        j = min(free, key=lambda k: n_k[k])
        seen.add(j)
        rest = 1 - r[:, j]
        if rest.min() <= sole or restart_bound(doc, r, prior, log_pi, j) < hope:
            continue
        new = r / rest[:, None]
        out = left.copy()
        out[j] = True
        for _ in range(sweeps):
            log_weight = psi(prior[:-1] + counts @ np.where(out, 0.0, new))
            log_r = log_weight + np.where(out, -np.inf, expected_log_phi)
            new = np.exp(log_r - log_r.max(axis=1, keepdims=True))
            new /= new.sum(axis=1, keepdims=True)
        found = document_value(doc, new, tau, prior)
        if found > value + gain * abs(value):
            r, value, left, log_pi = new, found, out, log_weight
    return r, left, len(seen)


def restart_bound(doc, r, prior, log_pi, j):
    """What L_d changes by, at least, in the first sweep without topic j.             docs/math (V17)"""
    n, a = doc[1] @ r[:, j], prior[j]
    return gammaln(a) - gammaln(a + n) + n * log_pi[j] + doc[1] @ np.log1p(-r[:, j])
