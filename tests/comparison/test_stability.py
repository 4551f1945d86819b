import numpy as np
import pytest

import stickbreak
from stickbreak.comparison import align, stability
from stickbreak.exceptions import InputError

CORPUS, _ = stickbreak.corpus.toy_bars(n_documents=150, seed=0)


def test_the_typical_run_agrees_most_with_the_others():
    given = stickbreak.CollapsedHDP(n_laps=10)
    found = stability(given, CORPUS, seeds=[3, 1, 2])
    models = [stickbreak.CollapsedHDP(n_laps=10, random_state=seed).fit(CORPUS) for seed in (3, 1, 2)]
    expected = np.array([[align(a, b, CORPUS).agreement for b in models] for a in models])
    np.testing.assert_allclose(found.agreement, expected)
    best = int(np.argmax(expected.sum(axis=1)))
    assert found.seed == (3, 1, 2)[best]
    assert found.n_topics == tuple(model.n_topics_ for model in models)
    others = [align(models[best], model, CORPUS).table for i, model in enumerate(models) if i != best]
    first = [table[table["topic_a"] >= 0]["similarity"].to_numpy() for table in others]
    np.testing.assert_allclose(found.table["similarity"], np.mean(first, axis=0))
    np.testing.assert_allclose(found.table["found"], np.mean(np.array(first) >= 0.5, axis=0))
    assert not hasattr(given, "vocabulary_")


def test_a_class_is_taken_with_its_defaults():
    small, _ = stickbreak.corpus.toy_bars(n_documents=30, seed=0)
    found = stability(stickbreak.HybridHDP, small, seeds=[0, 1])
    assert type(found.model) is stickbreak.HybridHDP


@pytest.mark.parametrize("seeds", [[1], [1, 1], []])
def test_two_different_seeds_are_needed(seeds):
    with pytest.raises(InputError, match="at least two different seeds"):
        stability(stickbreak.CollapsedHDP, CORPUS, seeds)
