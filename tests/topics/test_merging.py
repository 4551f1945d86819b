"""What two topics gain as one: against the joint law, a sequential twin, and the evidence by enumeration."""

import errno
import math
from itertools import product

import numpy as np
import pytest
from scipy import sparse
from scipy.special import gammaln

from stickbreak.corpus import Corpus, planted_lda
from stickbreak.exceptions import WriteError
from stickbreak.fitting.engine import Engine
from stickbreak.numerics.kernel_random import open_stream, uniform
from stickbreak.numerics.streams import key_of
from stickbreak.sparse_gibbs.chain import Chain
from stickbreak.sparse_gibbs.priors import Priors
from stickbreak.topics.laps import Merger, TokensOfTopics

from . import reference


def chain_at(corpus, z, n_topics):
    chain = Chain(corpus, n_topics, 0)
    chain.take([np.asarray(z, np.uint16)])
    return chain


def merger(chain, *, n_kept=0, n_labels=0, are_counts=True, seed=0):
    return Merger(n_labels, n_kept, are_counts, seed, Engine(1))


def random_state(n_topics, seed):
    """Return a collection, the word and document of each of its tokens, topics of these, and a."""
    corpus, _ = planted_lda(30, 25, n_topics=3, mean_tokens=30, seed=seed)
    word, document = reference.by_word(corpus)
    rng = np.random.default_rng(seed)
    return corpus, word, document, rng.integers(n_topics, size=word.size), rng.uniform(0.05, 0.9, n_topics)


def as_one(z, a, k, l):  # noqa: E741
    """Return topics of tokens and weights with topic l in topic k, and l as the last topic is."""
    into = np.arange(a.size)
    into[l] = k
    into = np.unique(into, return_inverse=True)[1]
    return into[z], np.bincount(into, a)


@pytest.mark.parametrize("by_word", [False, True])
def test_plain_gain_is_that_of_the_joint_law(by_word, seed):
    corpus, word, document, z, a = random_state(5, seed)
    eta = np.random.default_rng(1).uniform(0.02, 0.5, corpus.n_words) if by_word else 0.1
    chain = chain_at(corpus, z, 5)
    counts, sizes = chain.words(np.arange(5)), chain.sizes().astype(float)
    found = Merger._plain(chain, counts, sizes, a, np.full(corpus.n_words, eta), np.arange(5))
    table = np.broadcast_to(np.asarray(eta, float), corpus.n_words)[:, None]

    def log_p(z, a):
        """Return log p(x, z), its constants included."""
        K = a.size
        n_dk, n_wk, n_k = reference.counts_of(word, document, z, (corpus.n_documents, corpus.n_words, K))
        documents = (gammaln(n_dk + a) - gammaln(a)).sum()
        words = (gammaln(n_wk + table) - gammaln(table)).sum()
        return documents + words - (gammaln(n_k + table.sum()) - gammaln(table.sum())).sum()

    for k, l in ((1, 0), (4, 2), (3, 1)):  # noqa: E741
        assert found[k, l] == pytest.approx(log_p(*as_one(z, a, k, l)) - log_p(z, a), abs=1e-6)
        assert found[l, k] == found[k, l]


def sequential(tokens, side, a, prior, fit, draw=None):
    """Return log p(w, one) , log p(w, c) and log q(c) of sides, drawn if `draw` is given; tokens are (document, word).

    a, prior and fit are of topics k and l: pseudo-counts, pseudo-counts of words (W,), and phi (W,).
    """
    n, words, totals = {}, [{}, {}], [0.0, 0.0]
    one = two = log_q = 0.0
    for t, (d, w) in enumerate(tokens):
        n_d = n.setdefault(d, [0.0, 0.0])
        q = [(n_d[i] + a[i]) * fit[i][w] for i in (0, 1)]
        q = [x / sum(q) for x in q]
        c = side[t] if draw is None else int(not draw() < q[0])
        in_both = sum(words[i].get(w, 0.0) for i in (0, 1))
        one += math.log((sum(n_d) + sum(a)) * (in_both + prior[0][w]) / (sum(totals) + prior[0].sum()))
        two += math.log((n_d[c] + a[c]) * (words[c].get(w, 0.0) + prior[c][w]) / (totals[c] + prior[c].sum()))
        log_q += math.log(q[c])
        n_d[c] += 1.0
        words[c][w] = words[c].get(w, 0.0) + 1.0
        totals[c] += 1.0
    return one, two, log_q


@pytest.mark.parametrize("kept", [0, 2])
def test_gains_are_those_of_the_twin(kept, seed):
    corpus, word, document, z, a = random_state(4, seed)
    W, eta, seeded = corpus.n_words, 0.1, sparse.csr_array((corpus.n_words, kept))
    if kept:
        table = np.zeros((W, kept))
        table[:3, 0], table[5, 1] = 2.5, 4.0
        seeded = sparse.csr_array(table)
    chain, priors = chain_at(corpus, z, 4), Priors(a, float(a.sum()), eta, seeded if kept else None)
    pairs, gains = merger(chain, n_kept=kept).gains(chain, priors, np.arange(4), 7)
    order = np.lexsort((word, document))
    word, document, sides = word[order], document[order], z[order]
    prior = np.full((4, W), eta)
    prior[:kept] += seeded.toarray().T
    counts = np.array([np.bincount(word[sides == k], minlength=W) for k in range(4)])
    fit = (counts + prior) / (counts + prior).sum(axis=1, keepdims=True)
    assert len(pairs)
    for (k, l), gain in zip(pairs, gains, strict=True):  # noqa: E741
        own = np.flatnonzero((sides == k) | (sides == l))
        tokens, side = list(zip(document[own], word[own], strict=True)), (sides[own] == l).astype(int)
        given = (a[k], a[l]), (prior[k], prior[l]), (fit[k], fit[l])
        rng = np.empty(1, np.uint64)
        open_stream(rng, key_of(0, 7, "sides of merges"), np.uint64(k * 4 + l))
        one, two, log_q = sequential(tokens, side, *given)
        _, drawn, log_of_drawn = sequential(tokens, side, *given, draw=lambda rng=rng: uniform(rng))
        assert gain == pytest.approx(one - (two - log_q + drawn - log_of_drawn) / 2, abs=1e-6)


def test_the_middle_is_nearer_to_the_evidence_than_either_bound():
    tokens = [(0, 0), (0, 1), (0, 0), (1, 2), (1, 2), (1, 0), (1, 1)]
    a, eta, rng = (0.6, 0.9), 0.4, np.random.default_rng(0)
    flat, fit = (np.full(3, eta), np.full(3, eta)), (np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.2, 0.6]))
    p = np.exp([sequential(tokens, c, a, flat, flat)[1] for c in product((0, 1), repeat=7)])
    evidence, states = np.log(p.sum()), list(product((0, 1), repeat=7))
    above, below = [], []
    for place in rng.choice(len(states), p=p / p.sum(), size=1500):  # sides as a chain has them
        _, two, log_q = sequential(tokens, states[place], a, flat, fit)
        above.append(two - log_q)
        _, two, log_q = sequential(tokens, None, a, flat, fit, draw=rng.random)
        below.append(two - log_q)
    assert np.mean(above) > evidence + 5 * np.std(above) / math.sqrt(1500)
    assert np.mean(below) < evidence - 5 * np.std(below) / math.sqrt(1500)
    middle = (np.mean(above) + np.mean(below)) / 2
    assert abs(middle - evidence) < 0.7 * min(np.mean(above) - evidence, evidence - np.mean(below))


def test_a_round_merges_the_best_pairs_first_and_keeps_what_is_known():
    corpus, _, _, z, a = random_state(5, 3)
    copies = np.where(z % 2 == 0, z, z % 3)
    chain = chain_at(corpus, copies, 7)
    priors = Priors(np.append(a, [0.1, 0.2]), float(a.sum() + 0.3), 0.1, sparse.csr_array((corpus.n_words, 2)))
    given = merger(chain, n_kept=2, n_labels=1)
    part_of = given.round(chain, priors, 3)
    used = np.flatnonzero(part_of >= 0)
    pairs, gains = given.gains(chain, priors, used, 3)
    pairs = used[pairs]
    assert used.tolist() == [0, 1, 2, 4]
    assert (part_of[:2] == [0, 1]).all()  # they join nothing, and stay without tokens, too
    assert not (pairs == 0).any()
    assert not ((pairs < 2).sum(axis=1) == 2).any()
    best = pairs[np.argmax(gains)]
    assert gains.max() > 0
    assert part_of[best[0]] == part_of[best[1]]
    assert np.bincount(part_of[part_of >= 0]).max() <= 2


@pytest.mark.parametrize(("n_parts", "in_files"), [(1, False), (3, False), (3, True)])
def test_tokens_of_topics_come_document_by_document(n_parts, in_files, tmp_path, seed):
    corpus, word, document, z, a = random_state(5, seed)
    chain = Chain(corpus, 5, 0, n_parts=n_parts, scratch=tmp_path if in_files else None)
    chain.take(np.split(z.astype(np.uint16), chain.tokens.start[chain.tokens.word_cuts[1:-1]]))
    begin, member, *found = TokensOfTopics.of(chain, np.arange(5), chain.sizes()).arrays
    order = np.lexsort((word, document))
    for k in range(5):
        own, some = np.flatnonzero(z[order] == k), slice(begin[k], begin[k + 1])
        np.testing.assert_array_equal(member[some], own)
        for array, of_tokens in zip(found, (word, document), strict=True):
            np.testing.assert_array_equal(array[some], of_tokens[order][own])
    gains = merger(chain).gains(chain, Priors(a, float(a.sum()), 0.1), np.arange(5), 1)
    whole = chain_at(corpus, z, 5)
    for part, one in zip(
        gains, merger(whole).gains(whole, Priors(a, float(a.sum()), 0.1), np.arange(5), 1), strict=True
    ):
        np.testing.assert_array_equal(part, one)


def test_a_full_disk_is_told(tmp_path, monkeypatch):
    chain = Chain(Corpus.from_counts(np.array([[2, 0, 1], [0, 3, 1]])), 2, 0, scratch=tmp_path)
    chain.take([np.zeros(7, np.uint16)])

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("builtins.open", full)
    with pytest.raises(WriteError, match="the disk is full"):
        TokensOfTopics.of(chain, np.arange(2), chain.sizes())
