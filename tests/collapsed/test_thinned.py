"""Halves of large topics, found in some of the documents: what is drawn, and that topics part where they should."""

import numpy as np
import pytest

from stickbreak import CollapsedHDP
from stickbreak.collapsed import splitting, thinned
from stickbreak.collapsed.cvb0 import ALONE, SMALLEST_SHARE, add_up, random_start, sweep, with_random_topics
from stickbreak.collapsed.files import InFiles
from stickbreak.collapsed.kernels import splits as kernels
from stickbreak.collapsed.memory import InMemory
from stickbreak.collapsed.shards import Aside
from stickbreak.collapsed.splitting import Halves, settled, split
from stickbreak.collapsed.state import Priors
from stickbreak.collapsed.thinned import thinning
from stickbreak.collapsed.walking import Outcome, count_halves
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.fitting.block_files import Folder

from .problems import dense_r, hold_back

BROAD = Priors(5.0, 1.0, 0.05)


def two_in_one(seed=0, n_documents=400):
    """A state of one topic in which there are two, in turn: even documents have one of them, odd ones the other."""
    counts = np.zeros((n_documents, 20))
    counts[::2, :10] = np.random.default_rng(seed).poisson(1, (n_documents // 2, 10))
    counts[1::2, 10:] = np.random.default_rng(seed + 1).poisson(1, (n_documents // 2, 10))
    state = random_start(Corpus.from_counts(counts), 1, seed)
    hold_back(state, 0.1, seed)
    sweep(state, BROAD, SMALLEST_SHARE, seed, ALONE)
    add_up(state, ALONE)
    return state


@pytest.mark.parametrize(
    ("n_tokens", "n_topics", "m"), [(1e5, 10, 1), (2**15, 1, 2), (2**18, 2, 8), (2**18 - 1, 2, 7), (1e9, 1, 16)]
)
def test_one_document_in_so_many_is_drawn_that_each_topic_has_tokens_enough(n_tokens, n_topics, m):
    assert thinning(n_tokens, n_topics, 10**6) == m


@pytest.mark.parametrize(("n_documents", "m"), [(1, 1), (511, 1), (512, 2), (1000, 3), (10**6, 16)])
def test_of_few_long_documents_all_are_drawn(n_documents, m):
    assert thinning(1e9, 1, n_documents) == m


def test_a_fit_to_few_long_documents_finds_their_topics():
    corpus, _ = planted_lda(8, 60, n_topics=3, mean_tokens=20_000, seed=0)
    assert CollapsedHDP(n_laps=10, random_state=0).fit(corpus).n_topics_ > 1


def test_documents_that_are_drawn_have_the_tokens_and_shares_they_had(monkeypatch):
    monkeypatch.setattr("stickbreak.collapsed.cutting.SHARD_COUNTS", 50)
    corpus, _ = planted_lda(200, 30, n_topics=3, mean_tokens=15, seed=2)
    state = random_start(corpus, 4, 0)
    hold_back(state, 0.3, 0)
    sweep(state, BROAD, SMALLEST_SHARE, 0, ALONE)
    whole, kept = dense_r(corpus, state), np.zeros(corpus.counts.shape)
    for shard in state.documents.shards:
        document = shard.first + np.repeat(np.arange(shard.indptr.size - 1), np.diff(shard.indptr))
        kept[document, shard.word] = shard.count
    some = thinned.thinned(state.documents, 4, 1, 7, ALONE)
    assert len(some.shards) > 2
    purpose = "documents of halves in lap 7"
    drawn = np.concatenate([
        shard.first + np.flatnonzero(thinned.stream_at(1, purpose, shard.first).random(n) * 4 < 1)
        for shard in state.documents.shards
        for n in [shard.indptr.size - 1]
    ])  # fmt: skip
    assert 25 < some.n_documents == drawn.size < 75
    for shard in some.shards:
        for d in range(shard.indptr.size - 1):
            own, document = slice(*shard.indptr[d : d + 2]), drawn[shard.first + d]
            np.testing.assert_array_equal(shard.word[own], np.flatnonzero(kept[document]))
            np.testing.assert_array_equal(shard.count[own], kept[document][shard.word[own]])
            for p in range(own.start, own.stop):
                entries = slice(*shard.shares.start[p : p + 2])
                r = np.zeros(4)
                r[shard.shares.topic[entries]] = shard.shares.share[entries]
                np.testing.assert_array_equal(r, whole[document, shard.word[p]])


def test_documents_of_files_and_of_memory_are_the_same(tmp_path):
    corpus, _ = planted_lda(300, 30, n_topics=3, mean_tokens=15, seed=2)
    found = []
    for documents in (InMemory(corpus), InFiles(corpus, ALONE, Folder(tmp_path))):
        with_random_topics(documents, 4, 0, ALONE)
        shards = thinned.thinned(documents, 3, 1, 7, ALONE).shards
        found.append([(s.indptr, s.word, s.count, s.shares.topic, s.shares.share) for s in shards])
    for one, other in zip(*found, strict=True):
        for here, there in zip(one, other, strict=True):
            np.testing.assert_array_equal(here, there)


def test_documents_without_tokens_count_neither_before_nor_after_the_draw():
    counts = planted_lda(600, 30, n_topics=3, mean_tokens=200, seed=2)[0].counts.toarray()
    counts[::2] = 0
    documents = InMemory(Corpus.from_counts(counts))
    with_random_topics(documents, 4, 0, ALONE)
    assert thinned.one_in(InMemory(Corpus.from_counts(counts[1::2])), 1e9, 4, ALONE) == 1
    assert thinned.one_in(documents, 1e9, 4, ALONE) == 1
    some = thinned.thinned(documents, 2, 0, 3, ALONE)
    assert 110 < some.n_documents < 190
    assert (some.lengths(ALONE) > 0).all()


def test_documents_set_apart_and_without_other_tokens_do_not_count():
    documents = InMemory(planted_lda(600, 30, n_topics=3, mean_tokens=200, seed=2)[0])
    assert thinned.one_in(documents, 1e9, 4, ALONE) == 2
    documents.set_aside(Aside(apart=0.3, apart_seed=5), ALONE)
    with_random_topics(documents, 4, 0, ALONE)
    assert thinned.one_in(documents, 1e9, 4, ALONE) == 1
    assert (thinned.thinned(documents, 2, 0, 3, ALONE).lengths(ALONE) > 0).all()


def test_each_lap_of_each_seed_draws_documents_of_its_own():
    documents = InMemory(planted_lda(300, 30, n_topics=3, mean_tokens=15, seed=2)[0])
    with_random_topics(documents, 4, 0, ALONE)
    drawn = {
        (seed, lap): thinned.thinned(documents, 2, seed, lap, ALONE).lengths(ALONE).tolist()
        for seed in (0, 3)
        for lap in (0, 3, 6)
    }
    assert len({tuple(lengths) for lengths in drawn.values()}) == 6  # not those of seed 3 in lap 0 for seed 0 in lap 3
    assert drawn[0, 3] == thinned.thinned(documents, 2, 0, 3, ALONE).lengths(ALONE).tolist()


def test_halves_found_in_some_documents_part_all(monkeypatch):
    monkeypatch.setattr(thinned, "TOKENS", 500)
    monkeypatch.setattr(thinned, "DOCUMENTS", 20)
    state = two_in_one()
    drawn = []
    monkeypatch.setattr(splitting, "thinned", lambda *given: drawn.append(given[1]) or thinned.thinned(*given))
    settled(state, BROAD, 0, ALONE)
    assert drawn == [7]
    half = np.concatenate([shard.half for shard in state.documents.shards])
    word = np.concatenate([np.repeat(s.word, np.diff(s.shares.start)) for s in state.documents.shards])
    first = word < 10
    assert np.abs(half[first].mean() - half[~first].mean()) > 0.99
    assert split(state, BROAD, 10, 0, ALONE) == (1, 1)


@pytest.mark.parametrize("seed", range(3))
def test_topic_that_is_one_stays_where_halves_are_found_in_some_documents(monkeypatch, seed):
    monkeypatch.setattr(thinned, "TOKENS", 500)
    monkeypatch.setattr(thinned, "DOCUMENTS", 20)
    corpus, _ = planted_lda(400, 30, n_topics=1, mean_tokens=10, seed=seed)
    state = random_start(corpus, 1, seed)
    hold_back(state, 0.1, seed)
    sweep(state, BROAD, SMALLEST_SHARE, seed, ALONE)
    assert split(state, BROAD, 10, seed, ALONE) == (1, 0)


def test_documents_that_are_not_counted_take_nothing_out_of_the_counts():
    """Halves of a document that is not among the counts equal those of one that is, with its tokens added to them."""
    state = two_in_one(n_documents=40)
    shard, K = state.documents.shards[0], 1
    shard.half = np.random.default_rng(0).uniform(0, 1, shard.shares.topic.size).astype(np.float32)
    halves = Halves.none(state)
    count_halves(shard, Outcome(half=shard.half), 0, state.S.shape[0], halves.S, halves.N)
    p = int(np.flatnonzero(shard.count == 1.0)[0])  # of one token, all of which is taken out
    d = int(np.searchsorted(shard.indptr, p, side="right")) - 1
    begin = shard.indptr[d]
    prior, eta, new = np.full(K, 2.0), 0.05, np.empty((2, shard.half.size), np.float32)
    lists = (shard.shares.start, shard.shares.topic, shard.shares.share, shard.half)
    common = (shard.indptr, shard.word, shard.count, *lists)
    kernels.update_halves(*common, state.S, state.N, halves.S, halves.N, prior, eta, 20 * eta, True, new[0])
    S, S1, w = state.S.copy(), halves.S.copy(), shard.word[begin]
    own, h = min(shard.count[begin], 1.0), np.float64(shard.half[begin])
    S[w] -= own
    S1[w] -= own * h
    tables = (S, state.N - own, S1, halves.N - own * h)
    kernels.update_halves(*common, *tables, prior, eta, 20 * eta, False, new[1])
    assert new[0][begin] == pytest.approx(new[1][begin], rel=1e-6)
    kernels.update_halves(*common, *tables, prior, eta, 20 * eta, True, new[1])
    assert new[0][begin] != pytest.approx(new[1][begin], rel=1e-6)
