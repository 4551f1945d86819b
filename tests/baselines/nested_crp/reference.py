"""Slow twin of the sweep over paths and levels, and the exact posterior of tiny collections by enumeration."""

import math
from itertools import product

import numpy as np
from scipy.special import gammaln

from stickbreak.numerics.kernel_random import open_stream, uniform


def levels_prior(n, priors):
    """Return the expected shares of the levels of a document with n[h] tokens at each.               math.md (R1)"""
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


def log_paths(path, gamma):
    """log p(paths) of the nested Chinese restaurant process, one document after the other."""
    total, n = 0.0, {}
    for row in path:
        for h in range(1, len(row)):
            above, here = tuple(row[:h]), tuple(row[: h + 1])
            total += math.log((n.get(here, 0) or gamma) / (n.get(above, 0) + gamma))
        for h in range(len(row)):
            way = tuple(row[: h + 1])
            n[way] = n.get(way, 0) + 1
    return total


def log_words(word, node, level, eta, n_words):
    """log p(words) of nodes, phi integrated out; `node` has any hashable name."""
    total = 0.0
    for name in set(node):
        here = [i for i in range(len(word)) if node[i] == name]
        e = eta[level[here[0]]]
        n = np.bincount([word[i] for i in here], minlength=n_words)
        total += gammaln(n + e).sum() - n_words * gammaln(e) + gammaln(n_words * e) - gammaln(n.sum() + n_words * e)
    return total


def log_joint(word, document, path, z, n_words, priors):
    """log p(words, levels, paths). `path` (D, L) names the child at each level, as part of its way."""
    ways = [tuple(path[d][: z[i] + 1]) for i, d in enumerate(document)]
    total = log_paths(path, priors.gamma) + log_words(word, ways, z, priors.eta, n_words)
    for d in range(len(path)):
        total += log_levels(np.bincount(z[document == d], minlength=len(path[0])).tolist(), priors)
    return total


def canonical(path):
    """Return paths with children numbered in the order in which documents meet them."""
    names, out = {}, []
    for row in path:
        way = ()
        for h in range(1, len(row)):
            children = names.setdefault(way, {})
            way = (*way, children.setdefault(int(row[h]), len(children)))
        out.append((0, *way))
    return tuple(out)


def posterior(word, document, n_documents, n_levels, n_words, priors):
    """Return all states (paths, levels) and their probabilities."""
    ways = list(product(range(n_documents), repeat=n_levels - 1))
    paths = {canonical([(0, *way) for way in rows]) for rows in product(ways, repeat=n_documents)}
    states = [(path, z) for path in sorted(paths) for z in product(range(n_levels), repeat=len(word))]
    log_p = np.array([log_joint(word, document, path, np.array(z), n_words, priors) for path, z in states])
    p = np.exp(log_p - log_p.max())
    return states, p / p.sum()


def sweep(word, start, z, path, n_words, priors, key, there=True):
    """Return paths and levels after a sweep with the random numbers of the kernel, and the mean log p of a token."""
    z, path, L, total, rng = z.astype(int), path.copy(), path.shape[1], 0.0, np.empty(1, np.uint64)
    document = np.repeat(np.arange(len(path)), np.diff(start))
    present = [there] * len(path)
    for d in range(len(path)):
        open_stream(rng, key, d)
        present[d] = False
        here = document == d
        nodes = tree(path, present)
        inside = np.array([present[e] for e in document])
        scores = {}
        for h in range(1, L):
            mine = word[here & (z == h)]
            names = [j for j, (level, _, _) in nodes.items() if level == h]
            scores["new", h] = log_ratio(np.zeros(n_words), mine, priors.eta[h])
            for j in names:
                at = inside & (z == h) & (path[document, h] == j)
                scores[j] = log_ratio(np.bincount(word[at], minlength=n_words), mine, priors.eta[h])
        options, weight = [], []
        for j in sorted(nodes):
            level, _, n = nodes[j]
            log_p, way, at = 0.0, [], j
            while at:
                log_p += math.log(nodes[at][2] / (nodes[nodes[at][1]][2] + priors.gamma)) + scores[at]
                way.append(at)
                at = nodes[at][1]
            if level < L - 1:
                log_p += math.log(priors.gamma / (n + priors.gamma)) + sum(
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
        total += draw_levels(d, word, document, z, path, present, n_words, priors, rng)
    return z, path, total / len(word)


def tree(path, present):
    """Return node -> (level, parent, documents) of the documents that are present; the root is always there."""
    nodes = {0: (0, -1, sum(present))}
    for d in np.flatnonzero(present):
        for h in range(1, path.shape[1]):
            n = nodes.get(path[d, h], (h, path[d, h - 1], 0))[2]
            nodes[path[d, h]] = (h, path[d, h - 1], n + 1)
    return nodes


def log_ratio(n, mine, eta):
    """log p of words at a node that has n (W,) tokens."""
    m = np.bincount(mine, minlength=n.size)
    total = gammaln(n + m + eta).sum() - gammaln(n + eta).sum()
    return total + gammaln(n.sum() + n.size * eta) - gammaln(n.sum() + m.sum() + n.size * eta)


def draw_levels(d, word, document, z, path, present, n_words, priors, rng):
    total, inside = 0.0, np.array([present[e] for e in document])
    for i in np.flatnonzero(document == d):
        others = inside.copy()
        others[i] = False
        n = np.bincount(z[(document == d) & others], minlength=path.shape[1])
        weight = levels_prior(n.tolist(), priors)
        for h in range(path.shape[1]):
            at = others & (z == h) & (path[document, h] == path[d, h])
            same = np.count_nonzero(at & (word == word[i]))
            weight[h] *= (same + priors.eta[h]) / (np.count_nonzero(at) + n_words * priors.eta[h])
        total += math.log(weight.sum())
        place = int(np.searchsorted(weight.cumsum(), uniform(rng) * weight.sum(), side="right"))
        z[i] = min(place, weight.size - 1)
    return total
