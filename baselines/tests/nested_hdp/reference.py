"""Slow twin of the nested HDP in plain loops, and the exact evidence of tiny collections by enumeration."""

import math
from itertools import product

import numpy as np
from scipy.special import betaln, gammaln, psi
from scipy.stats import beta as beta_distribution


def way_to(tree, k):
    """Return the nodes from below the root down to k."""
    return [] if k < 0 else [*way_to(tree, tree.parent[k]), int(k)]


def kl(a, b, c, d):
    """KL(Beta(a, b) || Beta(c, d))."""
    return betaln(c, d) - betaln(a, b) + (a - c) * psi(a) + (b - d) * psi(b) + (c + d - a - b) * psi(a + b)


def below_of(tree, slots, tokens):
    """Return the tokens at and below each slot."""
    return [sum(tokens[s] for s in range(len(slots)) if k in way_to(tree, slots[s])) for k in slots]


def parameters(tree, slots, tokens, alpha, m, pi):
    """Return q of the stick and of the switch of each slot, as pairs.                                docs/math (F3)"""
    below = below_of(tree, slots, tokens)
    found = []
    for t, k in enumerate(slots):
        after = sum(below[s] for s in range(t + 1, len(slots)) if tree.parent[slots[s]] == tree.parent[k])
        found.append(((1 + below[t], alpha + after), (m * pi + tokens[t], (1 - m) * pi + below[t] - tokens[t])))
    return found


def log_weights(tree, slots, q):
    """Return E log of the weight of each slot.                                                       docs/math (F3)"""
    place, found = {k: t for t, k in enumerate(slots)}, []
    for k in slots:
        total = 0.0
        for j in way_to(tree, k):
            s = place[j]
            (a, b), (c, d) = q[s]
            total += psi(a) - psi(a + b)
            for r in range(s):
                if tree.parent[slots[r]] == tree.parent[j]:
                    e, f = q[r][0]
                    total += psi(f) - psi(e + f)
            if j != k:
                total += psi(d) - psi(c + d)
            elif tree.inner[j]:
                total += psi(c) - psi(c + d)
        found.append(total)
    return np.array(found)


def bound(tree, slots, q, zeta, count, E, log_g, alpha, m, pi):
    """Return the bound of a document, term by term.                                                  docs/math (F4)"""
    weight, total = log_weights(tree, slots, q), 0.0
    for i, c in enumerate(count):
        for t in range(len(slots)):
            if zeta[i, t] > 0:
                total += c * zeta[i, t] * (weight[t] + E[i, slots[t]] - math.log(zeta[i, t]))
    for t, k in enumerate(slots):
        total += log_g[k] - kl(*q[t][0], 1.0, alpha)
        if tree.inner[k]:
            total -= kl(*q[t][1], m * pi, (1 - m) * pi)
    return total


def best_shares(tree, slots, q, E):
    """Return the shares of slots in words, (n, T).                                                   docs/math (F3)"""
    logits = log_weights(tree, slots, q) + E[:, slots]
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)


def select(tree, count, E, log_g, alpha, m, pi, most):
    """Return the slots of a document: each candidate is tried, the bound of each is computed in full. docs/math (F2)"""

    def at_prior(slots):
        q = parameters(tree, slots, np.zeros(len(slots)), alpha, m, pi)
        return bound(tree, slots, q, best_shares(tree, slots, q, E), count, E, log_g, alpha, m, pi)

    first = range(tree.start[0], tree.start[1])
    slots = [max(first, key=lambda k: log_g[k] + float(count @ E[:, k]))]
    while len(slots) < most:
        candidates = [k for p in [-1, *slots] for k in range(tree.start[p + 1], tree.start[p + 2]) if k not in slots]
        gains = {k: at_prior([*slots, k]) - at_prior(slots) for k in candidates}
        if not gains or max(gains.values()) <= 0:
            break
        slots.append(max(gains, key=gains.get))
    return slots


def ascend(tree, slots, tokens, count, E, log_g, alpha, m, pi, n_sweeps):
    """Return shares, tokens and the bound after each sweep.                                          docs/math (F3)"""
    bounds, zeta = [], None
    for _ in range(n_sweeps):
        zeta = best_shares(tree, slots, parameters(tree, slots, tokens, alpha, m, pi), E)
        tokens = count @ zeta
        q = parameters(tree, slots, tokens, alpha, m, pi)
        bounds.append(bound(tree, slots, q, zeta, count, E, log_g, alpha, m, pi))
    return zeta, tokens, bounds


def weights(tree, slots, tokens, g, alpha, m, pi):
    """Return the expected weight of each node in a document, and the rest.                           docs/math (F8)"""
    q, place = parameters(tree, slots, tokens, alpha, m, pi), {k: t for t, k in enumerate(slots)}
    out, rest = np.zeros(tree.n_nodes), 0.0

    def visit(p, arrived):
        nonlocal rest
        stop = 0.0 if p < 0 else 1.0
        if p >= 0 and tree.inner[p]:
            a, b = q[place[p]][1] if p in place else (m * pi, (1 - m) * pi)
            stop = a / (a + b)
        if p >= 0:
            out[p] = arrived * stop
        go, left, taken = arrived * (1 - stop), 1.0, {}
        for k in slots:
            if tree.parent[k] == p:
                a, b = q[place[k]][0]
                taken[k] = left * a / (a + b)
                left *= b / (a + b)
        children = range(tree.start[p + 1], tree.start[p + 2])
        for k in children:
            visit(k, go * (taken.get(k, 0.0) + left * g[k]))
        rest += go * left * (1 - sum(g[k] for k in children))

    visit(-1, 1.0)
    return np.append(out, rest)


def next_node(tree, z, g, alpha, m, pi):
    """Return p(node of the next token | nodes of those before), (K,).                                docs/math (F9)"""
    own = np.bincount(np.asarray(z, int), minlength=tree.n_nodes)
    reach = [sum(own[j] for j in range(tree.n_nodes) if k in way_to(tree, j)) for k in range(tree.n_nodes)]
    found = np.ones(tree.n_nodes)
    for k in range(tree.n_nodes):
        for j in way_to(tree, k):
            p = tree.parent[j]
            passed = len(z) if p < 0 else reach[p] - own[p]
            found[k] *= (alpha * g[j] + reach[j]) / (alpha + passed)
            stop = (m * pi + own[j]) / (pi + reach[j]) if tree.inner[j] else 1.0
            found[k] *= stop if j == k else 1 - stop
    return found


def log_nodes(tree, z, g, alpha, m, pi):
    """log p(z) of the nodes of a document."""
    return sum(math.log(next_node(tree, z[:n], g, alpha, m, pi)[z[n]]) for n in range(len(z)))


def exact_document(tree, words, topics, g, alpha, m, pi):
    """log p(x) of a document of known topics and g, by enumeration."""
    total = 0.0
    for z in product(range(tree.n_nodes), repeat=len(words)):
        total += math.exp(log_nodes(tree, z, g, alpha, m, pi)) * math.prod(
            topics[k, w] for k, w in zip(z, words, strict=True)
        )
    return math.log(total)


def exact_collection(tree, documents, n_words, gamma, alpha, m, pi, eta, n_points=48):
    """log p(x) of documents over a tree whose only stick is at a root with two children; topics integrated out."""
    x, weight = np.polynomial.legendre.leggauss(n_points)
    v = (x + 1) / 2
    weight = weight / 2 * beta_distribution(1.0, gamma).pdf(v)
    K = tree.n_nodes
    g = np.ones((n_points, K))
    g[:, 0], g[:, 1] = v, 1 - v
    ways = [list(product(range(K), repeat=len(words))) for words in documents]
    log_p = [np.array([[log_nodes(tree, z, row, alpha, m, pi) for z in of] for row in g]) for of in ways]
    total = 0.0
    for chosen in product(*(range(len(of)) for of in ways)):
        S = np.zeros((K, n_words))
        for d, c in enumerate(chosen):
            for k, w in zip(ways[d][c], documents[d], strict=True):
                S[k, w] += 1
        evidence = (gammaln(n_words * eta) - gammaln(n_words * eta + S.sum(axis=1))).sum()
        evidence += (gammaln(eta + S) - gammaln(eta)).sum()
        total += math.exp(evidence) * float(weight @ np.exp(sum(log_p[d][:, c] for d, c in enumerate(chosen))))
    return math.log(total)


def whole_bound(tree, S, picks, own, eta, gamma):
    """Return the bound of a collection, from what documents add to it (own) and the best globals.    docs/math (F5)

    eta is a number or a table (W, K).
    """
    total, table = own, np.broadcast_to(eta, S.shape)
    for k in range(tree.n_nodes):
        prior = table[:, k]
        tau = prior + S[:, k]
        elog = psi(tau) - psi(tau.sum())
        total += float(S[:, k] @ elog) + gammaln(prior.sum()) - gammaln(prior).sum() - gammaln(tau.sum())
        total += float(gammaln(tau).sum() + (prior - tau) @ elog)
    for p in range(-1, tree.n_nodes):
        left, children = 0.0, list(range(tree.start[p + 1], tree.start[p + 2]))
        for k in children:
            a, b = 1 + picks[k], gamma + sum(picks[j] for j in children if j > k)
            last = k == children[-1]
            total += picks[k] * (left + (0.0 if last else psi(a) - psi(a + b)))
            left += psi(b) - psi(a + b)
            total -= 0.0 if last else kl(a, b, 1.0, gamma)
    return total
