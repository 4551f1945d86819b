import numpy as np
import pandas as pd

import stickbreak
from stickbreak.comparison import align, found_again, stability

CORPUS, _ = stickbreak.corpus.toy_bars(n_documents=150, seed=0)


def test_the_typical_run_agrees_most_with_the_others():
    given = stickbreak.TopicModel(n_laps=10)
    found = stability(given, CORPUS, seeds=[3, 1, 2])
    models = [stickbreak.TopicModel(n_laps=10, random_state=seed).fit(CORPUS) for seed in (3, 1, 2)]
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


def test_topics_are_found_again_in_given_fits_as_in_those_that_stability_makes():
    models = [stickbreak.TopicModel(n_laps=10, random_state=seed).fit(CORPUS) for seed in (3, 1, 2)]
    found = stability(stickbreak.TopicModel(n_laps=10), CORPUS, seeds=[3, 1, 2])
    others = [model for model, seed in zip(models, (3, 1, 2), strict=True) if seed != found.seed]
    pd.testing.assert_frame_equal(found_again(found.model, others, CORPUS), found.table)
    by_words = found_again(found.model, [found.model])
    assert by_words["found"].tolist() == [1.0] * found.model.n_topics_


def test_fits_from_other_seeds_are_those_with_the_seeds_that_follow():
    model = stickbreak.TopicModel(n_laps=10, random_state=3).fit(CORPUS)
    laps = []
    table = found_again(model, 2, CORPUS, callback=laps.append)
    others = [stickbreak.TopicModel(n_laps=10, random_state=seed).fit(CORPUS) for seed in (4, 5)]
    pd.testing.assert_frame_equal(table, found_again(model, others, CORPUS))
    assert table.attrs["n_fits"] == 2
    assert sum(event.get("lap") == 1 for event in laps) == 2
    assert model.random_state == 3


def test_fits_from_other_seeds_start_from_the_same_fitted_model():
    given = stickbreak.TopicModel(n_topics=6, n_laps=3, random_state=0).fit(CORPUS)
    estimator = stickbreak.VariationalHDP(init=given, n_laps=2, random_state=0)
    assert found_again(estimator.fit(CORPUS), 1, CORPUS)["found"].min() == 1
    assert stability(estimator, CORPUS, seeds=[0, 1]).agreement.shape == (2, 2)


def test_topics_of_noise_do_not_come_again_and_planted_ones_do():
    rng = np.random.default_rng(0)
    planted = [np.repeat(np.arange(10 * k, 10 * k + 10), 3) for k in range(3)]
    bags = [*(rng.choice(planted[k], 40) for k in range(3) for _ in range(30)), *rng.integers(30, 130, (30, 40))]
    counts = np.stack([np.bincount(bag, minlength=130) for bag in bags])
    model = stickbreak.TopicModel(n_topics=8, n_laps=60, random_state=0).fit(counts)
    table = found_again(model, 3, counts)
    of_noise = np.array([int(words.split()[0].removeprefix("w")) for words in table["words"]]) >= 30
    assert table.loc[~of_noise, "found"].min() == 1
    assert table.loc[of_noise, "found"].mean() < 0.5
