"""Sub-topic moves: one trial leaves the exact posterior as it is, and the kernel does what its twin does."""

from itertools import product

import numpy as np
import pytest

from stickbreak import GibbsHDP
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.numerics.stirling import stirling_ratios
from stickbreak.numerics.streams import key_of
from stickbreak.sampling.kernels import subtopics as sides
from stickbreak.sampling.kernels.counts import count_tokens
from stickbreak.sampling.kernels.documents import NO_LABELS
from stickbreak.sampling.moves import TopicTokens, TrialRules, subtopic_trials, with_room
from stickbreak.sampling.representations import Franchise, TableIndicators, draw_weights
from stickbreak.sampling.state import Concentrations, DocumentTopics, count_topics
from stickbreak.sampling.state import Seating as Seats

from .chains import tokens_of
from .enumeration import Seating, Tiny, canonical, posterior
from .laws import ALARM, chi_square
from .reference import Stream
from .subtopic_twin import Subtopics


def tried(tokens, z, counts, beta, now, *, trials, key, **options):
    n_k = with_room(counts, trials)
    held = TopicTokens(tokens, z, n_k, counts.n_topics)
    return subtopic_trials(held, counts, n_k, beta, now, TrialRules(trials, key), **options)


def one_trial(tiny, tokens, order, seating, key, limit):
    """Draw corpus weights, make one trial, draw tables: from a seating to a seating, in the order of `tiny.docs`."""
    now, ratios = Concentrations(tiny.alpha, tiny.gamma, tiny.eta), stirling_ratios(8)
    state = Franchise(tokens)
    state.take(arranged(tokens, order, seating), max(seating.dish) + 1)
    counts = count_topics(tokens, state.z, state.documents, max(seating.dish) + 1)
    rng = np.random.default_rng(key)
    beta, z = draw_weights(counts, tiny.gamma, rng), state.z.copy()
    options = {"trials": 1, "passes": 2, "key": key, "limit": limit}
    K, beta, made = tried(tokens, z, counts, beta, now, **options)
    assert np.array_equal(np.unique(z), np.arange(K)), "topics are numbered without gaps"
    assert beta.sum() == pytest.approx(1.0)
    assert (beta > 0).all()
    drawn = TableIndicators(tokens)
    drawn.draw_tables(z, beta[:-1], now, NO_LABELS, key_of(key, 0, "tables"))
    after = drawn.seats(ratios, key_of(key, 0, "seats"))
    return listed(tokens, order, after), made


def arranged(tokens, order, seating):
    """Return the seating as arrays, for tokens that stand in another order."""
    out = Seats.empty(tokens)
    for d in range(tokens.n_documents):
        first, names = tokens.start[d], {}
        for i in range(first, tokens.start[d + 1]):
            t = seating.table[order[i]]
            place = names.setdefault(t, len(names))
            out.table[i] = place
            out.topic[first + place] = seating.dish[t]
            out.n[first + place] += 1
        out.n_tables[d] = len(names)
    return out


def listed(tokens, order, seats):
    """Undo `arranged`."""
    table, dish, base = np.empty(order.size, int), {}, 0
    for d in range(tokens.n_documents):
        first = tokens.start[d]
        for i in range(first, tokens.start[d + 1]):
            table[order[i]] = base + seats.table[i]
            dish[base + seats.table[i]] = seats.topic[first + seats.table[i]]
        base += seats.n_tables[d]
    seen = list(dict.fromkeys(table.tolist()))
    return Seating(canonical(table.tolist()), canonical([dish[t] for t in seen]))


@pytest.mark.parametrize("passes", [1, 4])
@pytest.mark.parametrize("eta", [0.05, 0.7])
def test_trials_are_those_of_the_twin(eta, passes):
    rng = np.random.default_rng(3)
    total = np.zeros(4, dtype=int)
    for key in range(15):
        D, W = int(rng.integers(1, 6)), int(rng.integers(2, 6))
        docs = [rng.integers(W, size=rng.integers(1, 8)).tolist() for _ in range(D)]
        tokens, _ = tokens_of([*docs, [0, 1]], W)
        z = canonical(rng.integers(int(rng.integers(1, 5)), size=tokens.word.size).tolist())
        K, now = max(z) + 1, Concentrations(1.3, 2.1, eta)
        beta = rng.dirichlet(np.ones(K + 1))
        document = np.repeat(np.arange(tokens.n_documents), tokens.lengths).tolist()
        options = {"alpha": now.alpha, "gamma": now.gamma, "eta": eta, "n_words": W}
        twin = Subtopics(tokens.word.tolist(), document, z, beta[:-1].tolist(), **options)
        found = np.array(z, np.int32)
        counts = counted(tokens, found, K)
        options = {"trials": 12, "passes": passes, "key": key, "limit": 6}
        K, weights, made = tried(tokens, found, counts, beta, now, **options)
        for trial in range(12):
            twin.trial(Stream(key, trial), passes, 6)
        assert canonical(found.tolist()) == canonical(twin.z)
        assert list(made) == twin.made
        assert sorted(weights[:-1]) == pytest.approx(sorted(twin.beta))
        fresh = counted(tokens, found, K).words
        for w in range(W):
            entries = [set(x.entry[x.start[w] : x.start[w] + x.size[w]].tolist()) for x in (counts.words, fresh)]
            assert entries[0] == entries[1], "the counts of words followed the moves"
        total += made
    assert total.min() > 0, "every kind of trial occurred, and was accepted now and then"


def counted(tokens, z, K):
    documents = DocumentTopics.empty(tokens)
    count_tokens(tokens.start, z, np.zeros(K, np.int64), documents)
    return count_topics(tokens, z, documents, K)


@pytest.mark.parametrize("limit", [3, None])
@pytest.mark.parametrize("name", "ABCDF")
def test_trial_leaves_the_exact_posterior_as_it_is(name, limit):
    """Independent seatings from the exact posterior, one trial each: their law is still the posterior."""
    tiny = Tiny.named(name)
    tokens, order = tokens_of(tiny.docs, tiny.V)
    states, p, _ = posterior(tiny)
    number = {state: s for s, state in enumerate(states)}
    seen, moved = np.zeros(len(states)), np.zeros(4, int)
    for key, s in enumerate(np.random.default_rng(5).choice(len(states), 8000, p=p)):
        after, made = one_trial(tiny, tokens, order, states[s], key, limit)
        seen[number[after]] += 1
        moved += made
    assert moved[[1, 3]].min() > 150
    assert chi_square(seen, p) > ALARM


@pytest.mark.parametrize("passes", [0, 3])
@pytest.mark.parametrize("chunk", [1, 2, 3, 256])
def test_probabilities_of_all_proposals_sum_to_one(chunk, passes, monkeypatch):
    """Also where the tokens of a document are drawn a few at a time, as those of a very long one are."""
    monkeypatch.setattr(sides, "CHUNK", chunk)
    word, bound = np.array([0, 1, 1, 2, 0, 2, 2]), np.array([0, 5, 7])
    members, anchors, total = (
        sides.Members(np.arange(7), word, bound, np.zeros(bound.size - 1, bool)),
        np.array([1, 5]),
        0.0,
    )
    for free in product(range(2), repeat=5):
        side = np.array([free[0], 0, *free[1:4], 1, free[4]], dtype=np.int8)
        expected, tables, n, size = np.zeros(7), np.full(2, 0.5), np.zeros((3, 2)), np.zeros(2)
        if passes:
            sides.settle_sides(members, anchors, 1.4, 0.2, passes, expected, n, size, tables)
        rng, settled = np.zeros(1, np.uint64), passes > 0
        state = (settled, expected, tables), sides.Sides(side, n, size), False, -np.inf, rng
        total += np.exp(sides.draw_sides.py_func(members, anchors, 1.4, 0.2, *state))
    assert total == pytest.approx(1.0)


def test_topics_are_found_from_one():
    corpus, truth = planted_lda(150, 60, n_topics=5, mean_tokens=60, seed=2)
    model = GibbsHDP(init="single", subtopic_trials=20, split_merge_trials=0, n_laps=40, random_state=0).fit(corpus)
    assert model.trace_["split_accepted"].sum() >= 4
    overlap = np.minimum(truth.topic_word[:, None], model.topic_word_[None]).sum(axis=2)
    assert (overlap.max(axis=1) > 0.8).all(), "each planted topic has one of its own"


def test_words_at_random_are_one_topic():
    corpus = Corpus.from_counts(np.random.default_rng(0).poisson(0.6, size=(100, 80)))
    options = {"subtopic_trials": 20, "split_merge_trials": 0, "n_laps": 40, "random_state": 0, "eta": 0.5}
    model = GibbsHDP(n_topics=5, estimate="last", **options).fit(corpus)
    sizes = (model.components_ - model.eta_).sum(axis=1)
    assert sizes[0] > 0.97 * sizes.sum()
