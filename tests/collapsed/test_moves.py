"""Rounds of moves: when they are due, which tokens are held out, when they end, and what they leave."""

from dataclasses import replace
from itertools import pairwise, takewhile

import numpy as np
import pytest

from stickbreak import CollapsedHDP
from stickbreak.collapsed import moves, plans
from stickbreak.collapsed.cvb0 import SMALLEST_SHARE, add_up, random_start, sweep
from stickbreak.collapsed.laps import CollapsedLaps
from stickbreak.collapsed.memory import InMemory
from stickbreak.collapsed.merging import compact
from stickbreak.collapsed.moves import Made, Rounds
from stickbreak.collapsed.rules import Rules
from stickbreak.collapsed.state import Priors
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.fitting.executor import ThreadExecutor

from .problems import dense, dense_r, give_back, hold_back, small_corpus

PRIORS, ONE = Priors(alpha=2.0, gamma=1.0, eta=0.1), ThreadExecutor(1)


def test_rounds_are_due_sooner_while_topics_are_few():
    due = [lap for lap in range(1, 100) if Rounds(43, births=True).due(lap)]
    assert due == [3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 35, 40]
    assert [lap for lap in range(1, 100) if Rounds(43, births=False).due(lap)] == [20, 25, 30, 35, 40]
    for births in (False, True):
        assert not any(Rounds(0, births).due(lap) for lap in range(1, 100))


@pytest.mark.parametrize("births", [False, True])
@pytest.mark.parametrize("end", [0, 20, 43, 45])
def test_turn_is_the_last_round_after_which_other_tokens_were_held_out(births, end):
    rounds, last = Rounds(end, births), 0
    for lap in range(80):
        if rounds.due(lap) and lap < end:
            last = lap
        assert rounds.turn(lap) == last


def held_of(shards):
    return np.concatenate([part.held for part in shards])


@pytest.mark.parametrize("fractional", [False, True])
def test_other_tokens_are_held_out_after_each_round_and_none_is_lost(monkeypatch, fractional):
    corpus = small_corpus(3, fractional=fractional)
    state = random_start(corpus, 4, 0)
    before = [part.count.copy() for part in state.documents.shards]
    hold_back(state, 0.3, 0)
    rounds, seen, kept = Rounds(40, births=True), [held_of(state.documents.shards)], 0
    monkeypatch.setattr(moves, "QUIET_ROUNDS", 100)
    for _ in range(40):
        sweep(state, PRIORS, SMALLEST_SHARE, 0, ONE)
        if rounds.due(state.n_sweeps):
            rounds.play(state, PRIORS, 12, 0.3, 0, ONE)
            seen.append(held_of(state.documents.shards))
        for part, count in zip(state.documents.shards, before, strict=True):
            np.testing.assert_array_equal(part.count + part.held, count)
            assert (part.held == np.floor(part.held)).all()
            kept += part.count.min() >= 0
    assert kept == 40 * len(before)
    assert all((one != other).any() for one, other in pairwise(seen[:-1]))
    np.testing.assert_array_equal(seen[-1], seen[-2])  # after the last round there is nothing to decide about
    again = random_start(corpus, 4, 0)
    hold_back(again, 0.3, 0, rounds.turn(40))
    np.testing.assert_array_equal(held_of(again.documents.shards), seen[-1])
    give_back(state)
    for part, count in zip(state.documents.shards, before, strict=True):
        np.testing.assert_array_equal(part.count, count)
        assert part.held is None


def played(monkeypatch, made_in, end=60, births=True):
    """Play all rounds of a small state; those of the given laps make a split. Return the rounds and what they did."""
    state, laps = random_start(small_corpus(1), 3, 0), {}
    hold_back(state, 0.2, 0)
    monkeypatch.setattr(moves, "merge", lambda *_: laps.setdefault(state.n_sweeps, []).append("merge") or (0, 0))

    def split(*_):
        laps.setdefault(state.n_sweeps, []).append("split")
        return 1, int(state.n_sweeps in made_in)

    monkeypatch.setattr(moves, "split", split)
    rounds = Rounds(end, births)
    for lap in range(1, 80):
        state.n_sweeps = lap
        if rounds.due(lap):
            rounds.play(state, PRIORS, 9, 0.2, 0, ONE)
    return rounds, laps


def test_early_rounds_split_and_the_last_one_merges(monkeypatch):
    _, laps = played(monkeypatch, range(100))
    assert list(laps) == [*range(3, 31, 3), 35, 40, 45, 50, 55, 60]
    for lap, made in laps.items():
        assert made == ["merge"] * (lap >= 20) + ["split"] * (lap < 60)


def test_without_births_nothing_is_split(monkeypatch):
    assert {name for made in played(monkeypatch, (), births=False)[1].values() for name in made} == {"merge"}


@pytest.mark.parametrize(("made_in", "end"), [((), 24), ((3, 6, 18), 24), ((21, 27), 35), ((24, 30), 40), ((50,), 24)])
def test_two_quiet_rounds_end_the_rounds(monkeypatch, made_in, end):
    rounds, laps = played(monkeypatch, made_in)
    assert rounds.end == max(laps) == end


def test_rounds_are_taken_up_again():
    rounds, other = Rounds(35, births=True, quiet=1), Rounds(60, births=True)
    other.restore(rounds.packed())
    assert other == rounds
    for name in rounds.packed():
        with pytest.raises(ValueError, match=name):
            other.restore({**rounds.packed(), name: -1})
        with pytest.raises(KeyError, match=name):
            other.restore({key: value for key, value in rounds.packed().items() if key != name})


def test_topics_without_shares_leave_the_state():
    corpus = small_corpus(2)
    state = random_start(corpus, 7, 1)
    for part in state.documents.shards:
        part.shares.topic = np.array([0, 2, 2, 3, 5, 5, 3], np.uint16)[part.shares.topic]
    state.tables, state.beta = np.arange(7.0), np.arange(1, 8) / 100
    add_up(state, ONE)
    S, r = state.S.copy(), dense_r(corpus, state)
    compact(state, ONE)
    used = [0, 2, 3, 5]
    np.testing.assert_array_equal(dense_r(corpus, state), r[:, :, used])
    np.testing.assert_array_equal(state.S, S[:, used])
    np.testing.assert_array_equal(state.N, S.sum(axis=0)[used])
    np.testing.assert_array_equal(state.tables, used)
    np.testing.assert_allclose(state.beta, (np.array(used) + 1) / 100)
    assert state.S.flags.c_contiguous
    for part in state.documents.shards:
        assert part.shares.topic.dtype == np.uint16
    same = state.S
    compact(state, ONE)
    assert state.S is same  # nothing is left to do
    none = random_start(Corpus.from_counts(np.zeros((3, 2))), 4, 0)
    compact(none, ONE)
    assert none.S.shape == (2, 1)


def kept_counts(corpus, state):
    """The counts that are not held out, dense."""
    counts = np.zeros(corpus.counts.shape)
    for part in state.documents.shards:
        document = part.first + np.repeat(np.arange(part.indptr.size - 1), np.diff(part.indptr))
        counts[document, part.word] = part.count
    return counts


@pytest.mark.parametrize("start", [1, 12])
def test_counts_are_those_of_the_shares_after_every_round(start):
    corpus = planted_lda(60, 30, n_topics=4, mean_tokens=30, seed=2)[0]
    rules = Rules(start, 20, PRIORS, SMALLEST_SHARE, ("alpha",), 0, 40, True, 0.2, "auto")
    laps, topics, made = CollapsedLaps(InMemory(corpus), rules, ONE), [], Made()
    laps.begin(lambda _: None, lambda: False)
    state, counts = laps.state, kept_counts(corpus, laps.state)
    for lap in takewhile(lambda _: state.n_sweeps <= laps.rounds.end, laps.laps(0)):
        np.testing.assert_allclose(state.S, np.einsum("dw,dwk->wk", counts, dense_r(corpus, state)), atol=1e-5)
        np.testing.assert_allclose(state.N, state.S.sum(axis=0), atol=1e-9)
        assert state.S.shape[1] == state.N.size == state.beta.size == state.tables.size <= 20
        counts = kept_counts(corpus, state)  # after a round: others are held out from now on
        topics.append(state.N.size)
        made.merge_accepted += lap.columns["merge_accepted"]
        made.birth_accepted += lap.columns["birth_accepted"]
        np.testing.assert_allclose(dense_r(corpus, state).sum(axis=2), dense(corpus) > 0, atol=1e-5)
    assert made.birth_accepted if start == 1 else made.merge_accepted
    assert topics[0] == start
    assert topics[-1] <= start + made.birth_accepted - made.merge_accepted


@pytest.mark.parametrize("seed", range(2))
def test_one_planted_topic_stays_one(seed):
    corpus = planted_lda(300, 100, n_topics=1, mean_tokens=60, seed=seed)[0]
    model = CollapsedHDP(random_state=seed, n_laps=62).fit(corpus)
    assert model.n_topics_ == 1
    assert model.trace_["birth_tried"].sum() > 0
    assert model.trace_["moved"].nonzero()[0].max() + 1 >= 25  # quiet rounds ended them


@pytest.mark.parametrize("n_topics", [None, 30])
def test_ten_planted_topics_are_found_from_any_start(n_topics, monkeypatch):
    corpus, truth = planted_lda(600, 300, n_topics=10, seed=0)
    monkeypatch.setattr(plans, "OF_LONG", replace(plans.OF_LONG, least=1 << 18))  # else Gibbs sampling forms them
    model = CollapsedHDP(n_topics=n_topics, random_state=0, n_laps=92).fit(corpus)
    assert 9 <= model.n_topics_ <= 11
    apart = np.abs(model.topic_word_[:, None] - truth.topic_word[None]).sum(axis=2)
    assert (apart.min(axis=0) < 0.2).all()
    assert model.trace_["n_topics"][0] <= (n_topics or 1)


def test_words_at_random_are_one_topic():
    """Of four collections at most one is split once: each of a dozen rounds may be wrong by chance."""
    found = []
    for seed in range(4):
        counts = np.random.default_rng(seed).poisson(0.5, (200, 100))
        found.append(CollapsedHDP(random_state=seed, n_laps=62).fit(Corpus.from_counts(counts)).n_topics_)
    assert sum(n == 1 for n in found) >= 3
    assert max(found) <= 2


def test_there_are_never_more_topics_than_asked_for():
    corpus = planted_lda(200, 100, n_topics=10, seed=0)[0]
    model = CollapsedHDP(random_state=0, n_laps=30, max_topics=4).fit(corpus)
    assert model.trace_["n_topics"].max() == model.n_topics_ == 4
