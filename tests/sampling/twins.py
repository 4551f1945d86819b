"""Slow twins of sweeps, written from docs/math (G2) and (G6): the weights of each token are computed anew.

They take their random numbers in the order of the kernels, so that both make the same draws. Tokens of topics are
counted from the labels every time.
"""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
from scipy.special import gammaln

from .reference import Stream

NEW = -1


def stirling(longest):
    """s(n, m) for n, m <= longest, exact."""
    s = [[0] * (longest + 1) for _ in range(longest + 1)]
    s[0][0] = 1
    for n in range(longest):
        for m in range(1, n + 2):
            s[n + 1][m] = s[n][m - 1] + n * s[n][m]
    return s


class Numbers:
    """Numbers of topics: those of dead topics are given out again, the last one first."""

    def __init__(self, n_topics):
        self.high, self.free = n_topics, []

    def new(self):
        if self.free:
            return self.free.pop()
        self.high += 1
        return self.high - 1


class WordLists:
    """The topics of each word, in the order in which a draw goes through them."""

    def __init__(self, lists):
        self.lists = [[list(pair) for pair in row] for row in lists]

    def take(self, w, k):
        row = self.lists[w]
        s = [topic for topic, _ in row].index(k)
        row[s][1] -= 1
        if row[s][1] == 0:
            row[s] = row[-1]
            row.pop()

    def put(self, w, k):
        for pair in self.lists[w]:
            if pair[0] == k:
                pair[1] += 1
                return
        self.lists[w].append([k, 1])

    def draw(self, w, coef, here, eta, fresh, rng):
        """k in proportion to (n_kw + eta) coef_k, or NEW: topics of the word, then of the document, then the others"""
        mass = sum(n * coef[k] for k, n in self.lists[w])
        smooth = eta * sum(coef.values())
        u, chosen = rng.uniform() * (mass + smooth + fresh), NEW
        if u < mass:
            for k, n in self.lists[w]:
                if u >= 0:
                    chosen = k
                    u -= n * coef[k]
        elif u < mass + smooth:
            u -= mass
            for k in here + sorted(set(coef) - set(here)):
                if u >= 0:
                    chosen = k
                    u -= eta * coef[k]
        return chosen


class AllTopics(WordLists):
    """Topics of words for a draw that goes through all topics by their numbers."""

    def draw(self, w, coef, here, eta, fresh, rng):
        """k in proportion to (n_kw + eta) coef_k, or NEW"""
        n = dict(self.lists[w])
        weight = {k: (n.get(k, 0) + eta) * coef[k] for k in sorted(coef)}
        u = rng.uniform() * (sum(weight.values()) + fresh)
        for k, share in weight.items():
            u -= share
            if u < 0:
                return k
        return NEW


class Sweep:
    """What the twins share: tokens of documents, their topics, the numbers, the hyperparameters."""

    most = math.inf  # topics that there may be

    def __init__(self, document, word, n_words, z, lists, here, alpha, gamma, eta):
        self.document, self.word, self.n_words = list(document), list(word), n_words
        self.here = {d: list(topics) for d, topics in here.items()}  # topics of a document, in the order of the kernels
        self.z, self.words = list(z), WordLists(lists)
        self.alpha, self.gamma, self.eta = alpha, gamma, eta
        self.numbers = Numbers(max(z) + 1)

    def tokens(self, k, d=None):
        """n_k, or n_jk"""
        return sum(topic == k and d in (None, doc) for topic, doc in zip(self.z, self.document, strict=True))

    def topics(self):
        return sorted({k for k in self.z if k is not None})

    def remove(self, i):
        k, self.z[i] = self.z[i], None
        self.words.take(self.word[i], k)
        here = self.here[self.document[i]]
        if not self.tokens(k, self.document[i]):
            here[here.index(k)] = here[-1]
            here.pop()
        return k

    def retire(self, k):
        if not self.tokens(k):
            self.numbers.free.append(k)

    def pick(self, i, factor, fresh, rng):
        """Draw the topic of a token in proportion to factor(k) f_k(v), or a new one; return it and if it is new."""
        coef = {k: factor(k) / (self.tokens(k) + self.n_words * self.eta) for k in self.topics()}
        here, fresh = self.here[self.document[i]], self.unless_full(fresh)
        k = self.words.draw(self.word[i], coef, here, self.eta, fresh / self.n_words, rng)
        return (self.numbers.new(), True) if k == NEW else (k, False)

    def unless_full(self, fresh):
        """The weight of a new topic"""
        return fresh if len(self.topics()) < self.most else 0.0

    def place(self, i, k):
        if not self.tokens(k, self.document[i]):
            self.here[self.document[i]].append(k)
        self.z[i] = k
        self.words.put(self.word[i], k)


class Indicators(Sweep):
    """Table indicators; m {(document, topic): tables}.                                            docs/math (G6)"""

    def run(self, m, key):
        s = stirling(len(self.z) + 1)
        for d in sorted(set(self.document)):
            rng = Stream(key, d)
            for i in (i for i, doc in enumerate(self.document) if doc == d):
                k, n = self.z[i], self.tokens(self.z[i], d)
                head = rng.uniform() * n < m[d, k]
                if head and m[d, k] == 1 and n > 1:
                    continue
                self.remove(i)
                m[d, k] -= head
                m = {pair: tables for pair, tables in m.items() if tables}
                self.retire(k)
                opened, seated = self.weights(m, d, s)
                k, new = self.pick(i, lambda k: opened[k] + seated[k], self.fresh(m), rng)  # noqa: B023
                opens = new or (d, k) not in m or rng.uniform() * (opened[k] + seated[k]) < opened[k]
                self.place(i, k)
                m[d, k] = m.get((d, k), 0) + opens
        return m

    def fresh(self, m):
        return self.alpha * self.gamma / (self.gamma + sum(m.values()))

    def weights(self, m, d, s):
        opened, seated = {}, {}
        for k in self.topics():
            M_k = sum(tables for (_, topic), tables in m.items() if topic == k)
            share = self.alpha * M_k / (self.gamma + sum(m.values()))
            n, t = self.tokens(k, d), m.get((d, k), 0)
            if n == 0:
                opened[k], seated[k] = share, 0.0
            else:
                opened[k] = share * s[n + 1][t + 1] / s[n][t] * (t + 1) / (n + 1)
                seated[k] = s[n + 1][t] / s[n][t] * (n - t + 1) / (n + 1)
        return opened, seated


class Franchise(Sweep):
    """The franchise: table[i] of each token within its document, dish {(document, table): topic}.  docs/math (G2)"""

    def run(self, table, dish, key):
        table = list(table)
        for d in sorted(set(self.document)):
            rng, mine = Stream(key, d), [i for i, doc in enumerate(self.document) if doc == d]
            n_tables = max(table[i] for i in mine) + 1
            for i in mine:
                t, table[i] = table[i], None
                k = self.remove(i)
                sizes = Counter(table[j] for j in mine)
                if not sizes[t]:
                    del dish[d, t]
                self.retire(k)
                open_share, fresh = self.opening(dish)
                k, new = self.pick(i, lambda k: self.tokens(k, d) + open_share[k], fresh, rng)  # noqa: B023
                if new:
                    open_share[k] = 0.0
                here = 0 if new else self.tokens(k, d)
                u = rng.uniform()
                if here and u * (here + open_share[k]) < here:
                    t, u = -1, int(rng.uniform() * here)
                    while u >= 0:
                        t += 1
                        u -= sizes[t] if dish.get((d, t)) == k else 0
                else:
                    t = next(t for t in range(n_tables + 1) if not sizes[t])
                    n_tables = max(n_tables, t + 1)
                    dish[d, t] = k
                table[i] = t
                self.place(i, k)
            kept = sorted({table[i] for i in mine})
            dish = {(doc, kept.index(t) if doc == d else t): k for (doc, t), k in dish.items()}
            for i in mine:
                table[i] = kept.index(table[i])
        return table, dish

    def serve(self, table, dish, key):
        """The dish of every table anew"""
        for d in sorted(set(self.document)):
            rng = Stream(key, d)
            for t in range(max(t for doc, t in dish if doc == d) + 1):
                mine = [i for i in range(len(self.z)) if (self.document[i], table[i]) == (d, t)]
                for i in mine:
                    self.z[i] = None
                old = dish.pop((d, t))
                self.retire(old)
                open_share, fresh = self.opening(dish)
                log_p = {k: math.log(open_share[k]) + self.log_predictive(mine, k) for k in self.topics()}
                fresh = self.unless_full(fresh)
                log_p[NEW] = math.log(fresh) + self.log_predictive(mine, NEW) if fresh else -math.inf
                largest = max(log_p.values())
                u = rng.uniform() * sum(math.exp(x - largest) for x in log_p.values())
                chosen = NEW
                for k in self.topics():
                    u -= math.exp(log_p[k] - largest)
                    if u < 0:
                        chosen = k
                        break
                if chosen == NEW:
                    chosen = self.numbers.new()
                dish[d, t] = chosen
                for i in mine:
                    self.z[i] = dish[d, t]
        return dish

    def opening(self, dish):
        """The weight of a new table that serves each topic, and of one that serves a new topic."""
        M = Counter(dish.values())
        share = self.alpha / (self.gamma + M.total())
        return {k: share * M[k] for k in self.topics()}, share * self.gamma

    def log_predictive(self, mine, k):
        """log f_k(X) of the words of a table given the other words of the topic"""
        others = np.bincount([w for w, z in zip(self.word, self.z, strict=True) if z == k], minlength=self.n_words)
        both = others + np.bincount([self.word[i] for i in mine], minlength=self.n_words)
        terms = gammaln(both + self.eta) - gammaln(others + self.eta)
        total = self.n_words * self.eta
        return float(terms.sum() + gammaln(others.sum() + total) - gammaln(both.sum() + total))
