"""Sweeps make the draws of their twins; what they draw beside (seatings, tables) has its law."""

import math
from collections import Counter

import numpy as np
import pytest

from stickbreak.corpus import Corpus
from stickbreak.numerics.stirling import stirling_ratios
from stickbreak.numerics.streams import key_of
from stickbreak.sampling import representations
from stickbreak.sampling.kernels import table_indicators as indicator_kernels
from stickbreak.sampling.kernels.counts import SHIFT, TOPIC
from stickbreak.sampling.representations import Franchise, Sweep, TableIndicators
from stickbreak.sampling.state import NO_LIMIT, Concentrations, Seating, Tokens, count_topics

from . import twins
from .chains import ONE_THREAD, tokens_of
from .enumeration import canonical, set_partitions
from .laws import ALARM, chi_square

CASES = range(25)
N_WORDS = 4


class Case:
    """A random seating of a random corpus, and what the twins want to know of it."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        lengths = rng.integers(1, 8, size=5)
        docs = [rng.choice(N_WORDS, size=n, p=[0.5, 0.3, 0.15, 0.05]).tolist() for n in lengths]
        self.tokens, _ = tokens_of(docs, N_WORDS)
        self.document = np.repeat(np.arange(lengths.size), lengths)
        self.numbers = dict(zip(("alpha", "gamma", "eta"), rng.uniform(0.2, 3.0, size=3).tolist(), strict=True))
        self.table = [t for n in lengths for t in canonical(rng.integers(rng.integers(1, n + 1), size=n).tolist())]
        places = list(dict.fromkeys(zip(self.document.tolist(), self.table, strict=True)))
        dishes = canonical(rng.integers(rng.integers(1, 12), size=len(places)).tolist())
        self.dish = dict(zip(places, dishes, strict=True))
        self.z = [self.dish[place] for place in zip(self.document.tolist(), self.table, strict=True)]
        tables = Counter((d, k) for (d, _), k in self.dish.items())
        self.ratios = stirling_ratios(int(lengths.max()), max(tables.values()) + 2)  # just enough, to begin with

    @property
    def concentrations(self):
        return Concentrations(**self.numbers)

    def seating(self):
        given = Seating.empty(self.tokens)
        given.table[:] = self.table
        for (d, t), k in self.dish.items():
            place = self.tokens.start[d] + t
            given.n_tables[d] = max(given.n_tables[d], t + 1)
            given.topic[place] = k
            given.n[place] = np.sum((self.document == d) & (np.array(self.table) == t))
        return given

    def start(self, representation):
        """Give the seating to a representation; return its counts."""
        representation.take(self.seating(), max(self.z) + 1)
        return count_topics(self.tokens, representation.z, representation.documents, max(self.z) + 1)

    def twin(self, kind, counts, limited):
        words = counts.words
        lists = [
            [(int(x & TOPIC), int(x >> SHIFT)) for x in words.entry[begin : begin + size]]
            for begin, size in zip(words.start[:-1], words.size, strict=True)
        ]
        here = {d: dict.fromkeys(k for (doc, _), k in sorted(self.dish.items()) if doc == d) for d in self.document}
        twin = kind(self.document.tolist(), self.tokens.word.tolist(), N_WORDS, self.z, lists, here, **self.numbers)
        if limited:
            twin.most = max(self.z) + 1
        return twin

    def sweep(self, seed, limited):
        """The first sweep of a chain, that may have no more topics where it is limited."""
        most = max(self.z) + 1 if limited else NO_LIMIT
        return Sweep(self.concentrations, self.ratios, (seed, 1), ONE_THREAD, most)

    def tables(self, representation):
        """m_jk of a representation, and its topics."""
        found = {}
        for d, begin in enumerate(self.tokens.start[:-1]):
            for s in range(begin, begin + representation.documents.size[d]):
                found[d, int(representation.documents.topic[s])] = int(representation.documents.m[s])
        return relabelled(representation.z.tolist(), found)


def relabelled(z, pairs):
    """Topics by first appearance, in the tokens and in the keys of pairs (document, topic)."""
    label = dict(zip(z, canonical(z), strict=True))
    return canonical(z), {(d, label[k]): value for (d, k), value in pairs.items()}


@pytest.mark.parametrize("limited", [False, True], ids=["any number", "limited"])
@pytest.mark.parametrize("dense", [False, True], ids=["sparse", "dense"])
def test_indicator_sweep_is_that_of_the_twin(dense, limited):
    for seed in CASES:
        case = Case(seed)
        sampler = TableIndicators(case.tokens, dense)
        counts = case.start(sampler)
        twin = case.twin(twins.Indicators, counts, limited)
        if dense:
            twin.words = twins.AllTopics(twin.words.lists)
        m = twin.run(dict(Counter((d, k) for (d, _), k in case.dish.items())), int(key_of(seed, 1, "tokens")))
        sampler.sweep(counts, case.sweep(seed, limited))
        assert case.tables(sampler) == relabelled(twin.z, m)


def test_document_that_needs_wider_tables_and_more_topics_is_finished(monkeypatch):
    monkeypatch.setattr(representations, "LEAST_ROOM", 1)
    sweep, begins = indicator_kernels.sweep, []

    def counted(*given):
        begins.append(given[0])
        assert begins.count(given[0]) < 100, "it does not end"
        return sweep(*given)

    monkeypatch.setattr(indicator_kernels, "sweep", counted)
    tokens, _ = tokens_of(np.random.default_rng(0).integers(N_WORDS, size=(20, 40)).tolist(), N_WORDS)
    for seed in range(4):
        begins.clear()
        sampler, seating = TableIndicators(tokens), Seating.empty(tokens)
        seating.n_tables[:], seating.n[tokens.start[:-1]] = 1, tokens.lengths
        sampler.take(seating, 1)
        counts = count_topics(tokens, sampler.z, sampler.documents, 1)
        now = Sweep(Concentrations(1000.0, 50.0, 0.5), stirling_ratios(40, 3), (seed, 1), ONE_THREAD)
        counts = sampler.sweep(counts, now)
        assert counts.n[: counts.n_topics].sum() == tokens.n_tokens


@pytest.mark.parametrize("limited", [False, True], ids=["any number", "limited"])
def test_franchise_sweep_is_that_of_the_twin(limited):
    for seed in CASES:
        case = Case(seed)
        sampler = Franchise(case.tokens)
        counts = case.start(sampler)
        twin = case.twin(twins.Franchise, counts, limited)
        table, dish = twin.run(case.table, dict(case.dish), int(key_of(seed, 1, "tokens")))
        old = sorted(set(dish.values()))  # between the passes the topics are numbered anew
        dish = {place: old.index(k) for place, k in dish.items()}
        twin.z, twin.numbers = [old.index(k) for k in twin.z], twins.Numbers(len(old))
        dish = twin.serve(table, dish, int(key_of(seed, 1, "dishes")))
        sampler.sweep(counts, case.sweep(seed, limited))
        assert sampler.seating.table.tolist() == table
        assert canonical(sampler.z.tolist()) == canonical(twin.z)
        assert sampler.seating.n_tables.sum() == len(dish)


@pytest.mark.parametrize(("n", "m"), [(4, 2), (4, 3), (5, 2), (5, 1), (3, 3)])
def test_seating_given_the_number_of_tables_has_its_law(n, m):
    """Proportional to prod_t (n_t - 1)!, over many documents of one topic."""
    repeats = 20000
    tokens = Tokens.from_corpus(Corpus.from_counts(np.full((repeats, 1), n)))
    sampler = TableIndicators(tokens)
    sampler.documents.size[:] = 1
    sampler.documents.n[tokens.start[:-1]], sampler.documents.m[tokens.start[:-1]] = n, m
    table = sampler.seats(stirling_ratios(n), key_of(3, n * m, "seats")).table.reshape(repeats, n)
    partitions = [labels for labels in set_partitions(n) if max(labels) + 1 == m]
    weight = [math.prod(math.factorial(labels.count(t) - 1) for t in range(m)) for labels in partitions]
    code = n ** np.arange(n)
    seen = [np.count_nonzero(table @ code == np.dot(labels, code)) for labels in partitions]
    assert sum(seen) == repeats, "tables are numbered by their first tokens"
    assert chi_square(seen, np.array(weight) / sum(weight)) > ALARM
