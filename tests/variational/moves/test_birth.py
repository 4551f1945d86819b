"""Births: all topics found from the start, once, then each cut in two."""

import numpy as np
import pytest

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
