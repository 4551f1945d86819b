"""The topics of seeds are known by their numbers in every family that takes seeds, whatever their labels are."""

import numpy as np
import pytest
from fuzz.models import weights
from tests.contract.small import OF_WORDS, data_of, unfitted
from tests.steered_problems import documents, topics

import stickbreak
from stickbreak.exceptions import NoPath
from stickbreak.methods import estimator_of


def seeded(name):
    words = data_of(name).words
    return unfitted(name, seeds={"one": words[:2], "two": words[3:5]}, seed_tokens=8.0).fit(data_of(name))


@pytest.mark.parametrize("name", OF_WORDS)
def test_topics_of_seeds_are_found_by_number_after_labels_have_changed(name, tmp_path):
    model = seeded(name)
    before = dict(model.seed_topics_)
    assert {seed: model.labels_[k] for seed, k in before.items()} == {"one": "one", "two": "two"}
    one, two = before.values()
    model.label({one: "first", two: "one"})
    assert model.seed_topics_ == before
    model.save(tmp_path / "m")
    again = stickbreak.load(tmp_path / "m")
    assert again.seed_topics_ == before
    again.continue_fit(data_of(name), n_laps=1)
    assert again.seed_topics_ == before
    assert (again.labels_[one], again.labels_[two]) == ("first", "one")
    try:
        assert again.joined([[0, 1]]).seed_topics_ == {}
    except NoPath:
        assert not again.joins_topics


PLANTED = {
    "TopicModel": {"n_topics": 5, "eta": 0.2},
    "VariationalHDP": {"n_topics": 5, "n_laps": 12},
    "HybridHDP": {"n_topics": 8, "n_laps": 6, "batch_size": 50},
    "GibbsHDP": {"n_topics": 10, "n_laps": 30, "subtopic_trials": 0},
    "LDA": {"n_topics": 5, "n_laps": 40},
    "OnlineHDP": {"n_topics": 8, "n_tables": 6, "batch_size": 60, "n_laps": 5},
    "SplitMergeOnlineHDP": {"max_topics": 12, "batch_size": 60, "n_laps": 5},
    "Pachinko": {"n_super": 2, "n_topics": 5, "n_laps": 60, "tolerance": None},
    "HierarchicalPachinko": {"n_super": 2, "n_topics": 5, "n_laps": 60, "tolerance": None},
    "NestedCRP": {"n_laps": 20, "level_mean": 0.1},
    "NestedHDP": {"branching": (8, 2), "n_laps": 6, "batch_size": None},
    "BackoffTreeTopics": {"branching": (4, 4), "n_laps": 30},
}


@pytest.mark.parametrize("name", OF_WORDS)
def test_planted_topics_are_found_under_the_numbers_of_their_seeds(name, tmp_path):
    corpus, seeds = documents(300, [0, 1, 2, 3, 4], 0), {"law": ["d0", "d1"], "war": ["c0", "c1"]}
    model = estimator_of(name)(**PLANTED[name], seeds=seeds, random_state=0).fit(corpus)
    numbers = [model.seed_topics_[seed] for seed in seeds]
    near = np.sqrt(model.word_distributions(np.array(numbers))) @ np.sqrt(topics(5)).T
    assert near.argmax(axis=1).tolist() == [3, 2]
    shown = model.shown_topics(1, most=100)
    assert shown.shares.sum() == pytest.approx(1.0)
    assert shown.shares[np.isin(shown.numbers, numbers)].min() > 0.005, "pseudo-tokens have no share"
    model.save(tmp_path / "m")
    loaded = stickbreak.load(tmp_path / "m").continue_fit(corpus, n_laps=1)
    assert weights(loaded, corpus).tobytes() == weights(model.continue_fit(corpus, n_laps=1), corpus).tobytes()
    assert loaded.labels_ == model.labels_
