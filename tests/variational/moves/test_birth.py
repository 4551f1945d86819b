"""Births: all topics found from the start, once, then each cut in two."""

import numpy as np
import pytest

import stickbreak
from stickbreak.corpus import toy_bars
from stickbreak.variational import VariationalHDP

from ..test_planted import distances


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
