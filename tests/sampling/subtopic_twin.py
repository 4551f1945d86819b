"""Slow twin of the sub-topic trials, written from docs/math (M3) and (M4): counts anew each time, sides by enumeration.

It takes its random numbers in the order of the kernel, so that both make the same draws.
"""

from __future__ import annotations

import math
from itertools import product

from .reference import log_f


def rising(a, n):
    """log (a)_n"""
    return math.lgamma(a + n) - math.lgamma(a)


class Subtopics:
    """Trials on the topics z of tokens with the given words and documents, under corpus weights beta."""

    def __init__(self, words, document, z, beta, *, alpha, gamma, eta, n_words):
        self.words, self.document, self.z, self.beta = list(words), list(document), list(z), list(beta)
        self.alpha, self.gamma, self.eta, self.n_words = alpha, gamma, eta, n_words
        self.made = [0, 0, 0, 0]

    def members(self, *topics):
        return [i for i, k in enumerate(self.z) if k in topics]

    def counts(self, tokens):
        n = [0] * self.n_words
        for i in tokens:
            n[self.words[i]] += 1
        return n

    def by_document(self, tokens):
        return [[i for i in tokens if self.document[i] == d] for d in sorted({self.document[i] for i in tokens})]

    def log_f(self, tokens):
        return log_f([self.words[i] for i in tokens], self.eta, self.n_words)

    def affinity(self, left, right):
        common = sum(math.sqrt(a * b) for a, b in zip(self.counts(left), self.counts(right), strict=True))
        return (common / math.sqrt(len(left) * len(right))) ** 4 + 1e-4

    def trial(self, rng, passes, limit):
        K = len(self.beta)
        split, settle = rng.uniform() < 0.5, passes if rng.uniform() < 0.5 else 0
        first = second = int(rng.uniform() * K)
        if not split:
            if K < 2:
                return
            others = [k for k in range(K) if k != first]
            weight = [self.affinity(self.members(first), self.members(k)) for k in others]
            u, second = rng.uniform() * sum(weight), others[0]
            for k, x in zip(others, weight, strict=True):
                if u >= 0:
                    second, u = k, u - x
        S = self.members(first, second)
        if len(S) < 2 or rng.uniform() * len(S) > limit:
            return
        self.made[0 if split else 2] += 1
        sides = {i: int(self.z[i] != first) for i in S}
        anchors = self.pick(S, sides, split, rng)
        log_u = math.log1p(-rng.uniform())
        mass = self.alpha * sum(self.beta[k] for k in {first, second})
        log_q, sides = self.propose(S, anchors, mass, settle, None if split else sides, rng)
        rest = [self.members(k) for k in range(K) if k not in (first, second)]
        left, right = ([i for i in S if sides[i] == s] for s in range(2))
        centre, scale = self.share(left, right, mass)
        if split:
            x = rng.uniform()
            v = centre + scale * math.log(x / (1 - x))
        else:
            v = math.log(self.beta[first] / self.beta[second])
        own = self.affinity(left, right)
        pair = own / (own + sum(self.affinity(left, other) for other in rest))
        after = len(rest) + 2
        chosen = pair / after / (len(left) * len(right)) / (1 / (after - 1) / (len(S) * (len(S) - 1)))
        e = math.exp(-(v - centre) / scale)
        log_ratio = math.log(self.gamma) + self.documents(left, right, mass, v) + math.log(chosen)
        log_ratio += self.log_f(left) + self.log_f(right) - self.log_f(S)
        log_ratio -= math.log(e / scale / (1 + e) ** 2) + log_q
        if log_u > (log_ratio if split else -log_ratio):
            return
        self.made[1 if split else 3] += 1
        if split:
            u = 1 / (1 + math.exp(-v))
            self.beta.append(self.beta[first] * (1 - u))
            self.beta[first] *= u
            for i in right:
                self.z[i] = K
        else:
            self.merge(first, second)

    def merge(self, kept, gone):
        """Join two topics; the last topic takes the number left."""
        last = len(self.beta) - 1
        total, of_last = self.beta[kept] + self.beta[gone], self.beta[last]
        home = gone if kept == last else kept
        self.z = [home if k in (kept, gone) else gone if k == last else k for k in self.z]
        self.beta[gone], self.beta[home] = of_last, total
        self.beta = self.beta[:last]

    def pick(self, S, sides, split, rng):
        if split:
            first, second = int(rng.uniform() * len(S)), int(rng.uniform() * (len(S) - 1))
            return S[first], S[second + (second >= first)]
        groups = [[i for i in S if sides[i] == s] for s in range(2)]
        return tuple(group[int(rng.uniform() * len(group))] for group in groups)

    def documents(self, left, right, mass, v):
        """log prod_d (mass u)_{n_d0} (mass (1 - u))_{n_d1} / (mass)_{n_d}"""
        u, out = 1 / (1 + math.exp(-v)), 0.0
        for tokens in self.by_document(left + right):
            on_0 = sum(i in left for i in tokens)
            out += rising(mass * u, on_0) + rising(mass * (1 - u), len(tokens) - on_0) - rising(mass, len(tokens))
        return out

    def share(self, left, right, mass):
        """Centre and scale of the logistic law of v."""

        def tables(side, a):
            return sum(a / (a + i) for tokens in self.by_document(side) for i in range(len(tokens)))

        def slope(v):
            u = 1 / (1 + math.exp(-v))
            return tables(left, mass * u) * (1 - u) - tables(right, mass * (1 - u)) * u

        sizes = [len(self.by_document(side)) for side in (left, right)]
        u = sizes[0] / sum(sizes)
        for _ in range(20):
            both = tables(left, mass * u), tables(right, mass * (1 - u))
            u = both[0] / sum(both)
        v = math.log(u / (1 - u))
        return v, max((slope(v - 0.01) - slope(v + 0.01)) / 0.02, 0.25) ** -0.5

    def propose(self, S, anchors, mass, passes, present, rng):
        """Return log q and the sides: drawn, or the present ones."""
        x, tables = self.settled(S, anchors, mass, passes)
        sides, log_q = {}, 0.0
        for tokens in self.by_document(S):
            odds, later = {}, [i for i in S if i not in sides and i not in tokens]
            for i in tokens:
                to = []
                for s in range(2):
                    done = [j for j in sides if sides[j] == s]
                    n_w = sum(self.words[j] == self.words[i] for j in done)
                    e = [x[j] if s == 0 else 1 - x[j] for j in later] if passes else []
                    e_w = sum(y for j, y in zip(later, e, strict=False) if self.words[j] == self.words[i])
                    total = len(done) + sum(e) + self.n_words * self.eta
                    to.append((n_w + e_w + self.eta) / total)
                odds[i] = to[0] / sum(to)
                if i in anchors:
                    odds[i] = float(i == anchors[0])
            prior = [max(mass * t / sum(tables), 1e-8) for t in tables]
            drawn, p = self.draw(tokens, odds, prior, present, rng)
            sides.update(drawn)
            log_q += math.log(p)
            for s in range(2):
                tables[s] += n_tables(sum(side == s for side in drawn.values()), prior[s])
        return log_q, sides

    def draw(self, tokens, odds, prior, present, rng):
        """Draw all sides of a document from their joint law, token after token; return them and their probability."""
        weight = {}
        for sides in product(range(2), repeat=len(tokens)):
            p = math.prod(odds[i] if s == 0 else 1 - odds[i] for i, s in zip(tokens, sides, strict=True))
            weight[sides] = p * math.exp(sum(rising(prior[s], sides.count(s)) for s in range(2)))
        chosen = ()
        for place, i in enumerate(tokens):
            total = sum(p for sides, p in weight.items() if sides[:place] == chosen)
            p_0 = sum(p for sides, p in weight.items() if sides[: place + 1] == (*chosen, 0)) / total
            chosen = (*chosen, present[i] if present else int(rng.uniform() >= p_0))
        return dict(zip(tokens, chosen, strict=True)), weight[chosen] / sum(weight.values())

    def settled(self, S, anchors, mass, passes):
        """Return the probability of side 0 of every member, and the expected tables of the sides."""
        tables = [0.5, 0.5]
        if passes == 0:
            return {}, tables
        x = self.seeded(S, anchors)
        for _ in range(passes):
            share, before = tables[0] / sum(tables), dict(x)
            tables = [0.0, 0.0]
            for tokens in self.by_document(S):
                for i in tokens:
                    if i in anchors:
                        continue
                    to = []
                    for s, part in enumerate((share, 1 - share)):
                        e = {j: x[j] if s == 0 else 1 - x[j] for j in S if j != i}
                        here = sum(e[j] for j in tokens if j != i)
                        n_w = sum(y for j, y in e.items() if self.words[j] == self.words[i])
                        word = (n_w + self.eta) / (sum(e.values()) + self.n_words * self.eta)
                        to.append((here + mass * part) * word)
                    x[i] = to[0] / sum(to)
                for s, part in enumerate((share, 1 - share)):
                    tables[s] += n_tables(sum(x[i] if s == 0 else 1 - x[i] for i in tokens), mass * part)
            if sum(abs(x[i] - before[i]) for i in S) < 0.003 * len(S):
                break
        return x, tables

    def seeded(self, S, anchors):
        """The documents of the anchors on their sides, the others where they fit better."""
        groups = [[i for i in S if self.document[i] == self.document[anchor]] for anchor in anchors]
        if groups[0] == groups[1]:
            groups = [[anchor] for anchor in anchors]
        x = {i: 1.0 - s for s in range(2) for i in groups[s]}
        background = [10 * n / len(S) for n in self.counts(S)]
        for tokens in self.by_document(S):
            here = [1.0, 1.0]
            for i in tokens:
                if i not in x:
                    to = []
                    for s in range(2):
                        e = {j: y if s == 0 else 1 - y for j, y in x.items()}
                        n_w = sum(y for j, y in e.items() if self.words[j] == self.words[i])
                        to.append(here[s] * (n_w + background[self.words[i]]) / (sum(e.values()) + 10))
                    x[i] = to[0] / sum(to)
                here[0] += x[i]
                here[1] += 1 - x[i]
        return x


def n_tables(n, a):
    """About how many tables n tokens take, n an expectation."""
    return n if n < 1 else 1 + a * math.log((a + n) / (a + 1))
