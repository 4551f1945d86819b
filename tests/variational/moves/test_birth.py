"""Births: all topics found from the start, once, then each cut in two."""

import numpy as np
import pytest

import stickbreak
from stickbreak.corpus import Corpus, toy_bars
from stickbreak.variational import VariationalHDP
from stickbreak.variational.memoized import first_lap, laps
from stickbreak.variational.moves import Birth, Delete, base, run_move
from stickbreak.variational.words import WordBirths

from ..following import Holding
from ..problems import ETA, begin, made_move, schedule
from ..test_planted import distances
from .trials import before_trial, small_bars


def test_halves_keep_the_names_and_add_new_ones_for_all_tokens():
    move, again = made_move(Birth), made_move(Birth)
    made, state, _ = before_trial(move, small_bars(1), 3)
    state.next_id = 11  # eight topics have come and gone
    found = move.propose(state, made)
    assert set(found.names) <= {0, 1, 2, 11, 12, 13}
    assert found.names.size > 3
    assert found.parameters.tau.shape == (state.totals.S.shape[0], found.names.size)
    counts = found.parameters.tau - ETA
    assert (counts > -1e-12).all()
    np.testing.assert_allclose(counts.sum(axis=1), state.totals.S.sum(axis=1), rtol=1e-6, atol=1e-9)  # of every word
    same = again.propose(state, made)
    np.testing.assert_array_equal(same.names, found.names)
    np.testing.assert_array_equal(same.parameters.tau, found.parameters.tau)
    np.testing.assert_array_equal(same.parameters.expected_beta, found.parameters.expected_beta)


@pytest.mark.parametrize("fresh", [None, 4])
def test_birth_without_tokens_proposes_nothing(monkeypatch, fresh):
    monkeypatch.setattr("stickbreak.variational.words.MOST_TOKENS", 1)  # one document of the batch, which is empty
    move = made_move(Birth, fresh=fresh)
    made, state, _ = before_trial(move, Corpus.from_counts(np.vstack([np.zeros((1, 4)), np.eye(4) * 3])), 2, 1)
    standing = state.standing()
    assert move.evaluate(state, standing, made, 0) is standing


@pytest.mark.long
@pytest.mark.parametrize("seed", [0])
def test_every_start_ends_at_the_same_objective_with_the_same_number_of_topics(seed):
    """Within 0.01 nats per token; without births they end up to 1.3 apart."""
    corpus, truth = toy_bars(150, size=10, n_bars=10, tokens=80, seed=seed)
    starts = [{"init": name} for name in ("lda", "documents", "near-uniform", "anchors")]
    starts += [{"n_topics": 1}, {"n_topics": 3, "init": "documents"}]
    settings = {"n_laps": 60, "random_state": seed}
    fits = [VariationalHDP(**start, **settings).fit(corpus) for start in starts]
    values = [model.objective_ for model in fits]
    assert max(values) - min(values) < 0.01
    assert [model.n_topics_ for model in fits] == [10] * len(fits)
    for model in fits:
        assert (np.diff(model.trace_["objective"]) > -1e-9 * abs(model.objective_)).all()
        assert distances(model.topic_word_, truth.topic_word).max() < 0.15
    kept = VariationalHDP(n_topics=1, moves=("merge", "delete", "refine", "reorder"), **settings).fit(corpus)
    assert kept.n_topics_ == 1


@pytest.mark.long
@pytest.mark.parametrize("start", [{"n_topics": 1}, {}, {"init": "documents"}], ids=str)
@pytest.mark.parametrize("words", ["one topic", "uniform"])
def test_documents_without_topics_have_one(words, start):
    rng = np.random.default_rng(4)
    topic = rng.dirichlet(np.full(200, 0.5)) if words == "one topic" else np.full(200, 1 / 200)
    corpus = Corpus.from_counts(rng.multinomial(60, topic, size=150))
    model = VariationalHDP(**start, n_laps=60, random_state=0).fit(corpus)
    assert model.n_topics_ == 1


def test_names_are_unique_and_never_used_again(monkeypatch):
    """Topics are born, the youngest are deleted, and others are born: no name comes back."""
    monkeypatch.setattr(base, "rises", lambda new, old: True)
    monkeypatch.setattr(WordBirths, "merges", False)  # all would be accepted, too
    monkeypatch.setattr(Birth, "candidates", lambda self, state: [0])
    made, _ = schedule(small_bars(1), 2)
    state, _ = first_lap(made, begin(small_bars(1), 3))
    ever = set(state.topic_ids.tolist())
    move, delete = made_move(Birth), Delete(None)
    for lap in range(1, 5):
        known = set(state.topic_ids.tolist())
        monkeypatch.setattr(delete, "candidates", lambda state: iter([int(state.topic_ids.max())]))
        next(laps(made, state, [Holding(move, delete)], lap))
        state.gathering.changed = False
        assert run_move(delete, state, made) == (1, 1)
        known.remove(max(known))
        next(laps(made, state, [move], lap))
        now = state.topic_ids.tolist()
        assert len(set(now)) == len(now)
        new = set(now) - known
        assert new
        assert not new & ever
        assert state.next_id == max(now) + 1
        ever |= new


def test_fit_with_births_goes_on_to_the_same_bits(tmp_path):
    """A birth on either side of the cut: topics from a collapsed start, then halves."""
    corpus, _ = toy_bars(100, size=6, n_bars=4, tokens=40, seed=3)
    settings = {"n_topics": 1, "tolerance": 0.0, "random_state": 0}
    whole = VariationalHDP(n_laps=16, **settings).fit(corpus)
    tried = np.flatnonzero(whole.trace_["birth_tried"])
    assert tried.size >= 2
    cut = int(tried[0]) + 1
    assert whole.trace_["birth_accepted"][:cut].sum() == 1
    VariationalHDP(n_laps=cut, **settings).fit(corpus).save(tmp_path / "m")
    again = stickbreak.load(tmp_path / "m").continue_fit(corpus, n_laps=16 - cut)
    np.testing.assert_array_equal(again.components_, whole.components_)
    np.testing.assert_array_equal(again.trace_["objective"], whole.trace_["objective"])
