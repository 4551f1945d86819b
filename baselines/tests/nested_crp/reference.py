"""Slow twin of the sweep over paths and levels, and the exact posterior of tiny collections by enumeration."""

import math
from itertools import product

import numpy as np
from scipy.special import gammaln

from stickbreak.numerics.kernel_random import open_stream, uniform


def levels_prior(n, priors):
    """Return the expected shares of the levels of a document with n[h] tokens at each.               docs/math (R1)"""
    m, pi, left, shares = priors.mean, priors.scale, 1.0, []
    for h in range(len(n) - 1):
        rest = sum(n[h:])
        shares.append(left * (m * pi + n[h]) / (pi + rest))
        left *= ((1 - m) * pi + sum(n[h + 1 :])) / (pi + rest)
    return np.array([*shares, left])


def log_levels(n, priors):
    """log p(levels) of a document: one token after the other, in any order."""
    total, so_far = 0.0, [0] * len(n)
    for h, count in enumerate(n):
        for _ in range(count):
            total += math.log(levels_prior(so_far, priors)[h])
            so_far[h] += 1
    return total


def log_paths(path, gamma, n_kept=0):
    """log p(paths) of the nested Chinese restaurant process, one document after the other.

    The first children of the root are those of seeds, to each of which a document went and ended there.
    """
    total, n = 0.0, {(0,): n_kept, **{(0, k): 1 for k in range(n_kept)}}
    ends = {(0, k): 1 for k in range(n_kept)}
    for row in path:
        for h in range(1, len(row)):
            above, here = tuple(row[:h]), tuple(row[: h + 1])
            total += math.log((n.get(here, 0) or gamma) / (n.get(above, 0) - ends.get(above, 0) + gamma))
        for h in range(len(row)):
            way = tuple(row[: h + 1])
            n[way] = n.get(way, 0) + 1
    return total


def eta_at(h, priors, n_words):
    """Return the pseudo-counts of words in a node of a level, (W,)."""
    return np.full(n_words, priors.eta[h]) * (1.0 if priors.of_words is None else priors.of_words)


def log_words(word, node, level, priors, n_words, known=()):
    """log p(words) of nodes, phi integrated out; `node` has any hashable name. known[k] (W,) are tokens of seeds."""
    total = 0.0
    for name in set(node):
        here = [i for i in range(len(word)) if node[i] == name]
        e = eta_at(level[here[0]], priors, n_words)
        n = np.bincount([word[i] for i in here], minlength=n_words)
        prior = e + seeds_at(name, known, n_words)
        total += gammaln(n + prior).sum() - gammaln(prior).sum() + gammaln(prior.sum()) - gammaln(n.sum() + prior.sum())
    return total


def seeds_at(way, known, n_words):
    """Return the tokens of seeds at the end of a way."""
    return known[way[1]] if isinstance(way, tuple) and len(way) == 2 and way[1] < len(known) else np.zeros(n_words)


def log_joint(word, document, path, z, n_words, priors, known=()):
    """log p(words, levels, paths). `path` (D, L) names the child at each level, as part of its way."""
    ways = [tuple(path[d][: z[i] + 1]) for i, d in enumerate(document)]
    total = log_paths(path, priors.gamma, len(known)) + log_words(word, ways, z, priors, n_words, known)
    for d in range(len(path)):
        total += log_levels(np.bincount(z[document == d], minlength=len(path[0])).tolist(), priors)
    return total


def canonical(path, n_kept=0):
    """Return paths with children numbered in the order in which documents meet them, after those of seeds."""
    names, out = {}, []
    for row in path:
        way = ()
        for h in range(1, len(row)):
            children = names.setdefault(way, {} if way else {k: k for k in range(n_kept)})
            way = (*way, children.setdefault(int(row[h]), len(children)))
        out.append((0, *way))
    return tuple(out)


def posterior(word, document, n_documents, n_levels, n_words, priors, known=()):
    """Return all states (paths, levels) and their probabilities."""
    ways = list(product(range(n_documents + len(known)), *[range(n_documents)] * (n_levels - 2)))
    paths = {canonical([(0, *way) for way in rows], len(known)) for rows in product(ways, repeat=n_documents)}
    states = [(path, z) for path in sorted(paths) for z in product(range(n_levels), repeat=len(word))]
    log_p = np.array([log_joint(word, document, path, np.array(z), n_words, priors, known) for path, z in states])
    p = np.exp(log_p - log_p.max())
    return states, p / p.sum()


def sweep(word, start, z, path, n_words, priors, key, there=True, known=()):
    """Return paths and levels after a sweep with the random numbers of the kernel, and the mean log p of a token.

    Nodes 1, 2, ... are those of seeds, of which `known` (n_kept, W) says the tokens.
    """
    of_seeds = dict(enumerate(known, 1))
    z, path, L, total, rng = z.astype(int), path.copy(), path.shape[1], 0.0, np.empty(1, np.uint64)
    document = np.repeat(np.arange(len(path)), np.diff(start))
    present = [there] * len(path)
    for d in range(len(path)):
        open_stream(rng, key, d)
        present[d] = False
        here = document == d
        nodes = tree(path, present, len(known))
        inside = np.array([present[e] for e in document])
        scores = {}
        for h in range(1, L):
            mine = word[here & (z == h)]
            names = [j for j, (level, _, _) in nodes.items() if level == h]
            eta = eta_at(h, priors, n_words)
            scores["new", h] = log_ratio(np.zeros(n_words), mine, eta)
            for j in names:
                at = inside & (z == h) & (path[document, h] == j)
                there_now = np.bincount(word[at], minlength=n_words) + of_seeds.get(j, 0)
                scores[j] = log_ratio(there_now, mine, eta)
        options, weight = [], []
        for j in sorted(nodes):
            level, _, n = nodes[j]
            log_p, way, at = 0.0, [], j
            while at:
                above = nodes[at][1]
                onward = nodes[above][2] - (above in of_seeds)
                log_p += math.log(nodes[at][2] / (onward + priors.gamma)) + scores[at]
                way.append(at)
                at = nodes[at][1]
            if level < L - 1:
                log_p += math.log(priors.gamma / (n - (j in of_seeds) + priors.gamma)) + sum(
                    scores["new", h] for h in range(level + 1, L)
                )
            options.append([0, *reversed(way)])
            weight.append(log_p)
        p = np.exp(np.array(weight) - max(weight))
        place = int(np.searchsorted(p.cumsum(), uniform(rng) * p.sum(), side="right"))
        chosen, used = list(options[min(place, len(p) - 1)]), set(nodes)
        while len(chosen) < L:
            free = next(j for j in range(10**6) if j not in used)
            used.add(free)
            chosen.append(free)
        path[d], present[d] = chosen, True
        total += draw_levels(d, word, document, z, path, present, n_words, priors, rng, of_seeds)
    return z, path, total / len(word)


def tree(path, present, n_kept=0):
    """Return node -> (level, parent, documents) of the documents that are present; the root is always there."""
    nodes = {0: (0, -1, sum(present) + n_kept), **{k: (1, 0, 1) for k in range(1, 1 + n_kept)}}
    for d in np.flatnonzero(present):
        for h in range(1, path.shape[1]):
            n = nodes.get(path[d, h], (h, path[d, h - 1], 0))[2]
            nodes[path[d, h]] = (h, path[d, h - 1], n + 1)
    return nodes


def log_ratio(n, mine, eta):
    """log p of words at a node that has n (W,) tokens, and eta (W,)."""
    m = np.bincount(mine, minlength=n.size)
    total = gammaln(n + m + eta).sum() - gammaln(n + eta).sum()
    return total + gammaln(n.sum() + eta.sum()) - gammaln(n.sum() + m.sum() + eta.sum())


def draw_levels(d, word, document, z, path, present, n_words, priors, rng, of_seeds):
    total, inside = 0.0, np.array([present[e] for e in document])
    for i in np.flatnonzero(document == d):
        others = inside.copy()
        others[i] = False
        n = np.bincount(z[(document == d) & others], minlength=path.shape[1])
        weight = levels_prior(n.tolist(), priors)
        for h in range(path.shape[1]):
            at = others & (z == h) & (path[document, h] == path[d, h])
            same = np.count_nonzero(at & (word == word[i]))
            more = of_seeds.get(path[d, h], np.zeros(n_words))
            eta = eta_at(h, priors, n_words)
            weight[h] *= same + more[word[i]] + eta[word[i]]
            weight[h] /= np.count_nonzero(at) + more.sum() + eta.sum()
        total += math.log(weight.sum())
        place = int(np.searchsorted(weight.cumsum(), uniform(rng) * weight.sum(), side="right"))
        z[i] = min(place, weight.size - 1)
    return total
