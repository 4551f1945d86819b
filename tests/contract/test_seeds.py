"""The topics of seeds are known by their numbers in every family that takes seeds, whatever their labels are."""

import pytest
from tests.contract.small import OF_WORDS, data_of, unfitted

import stickbreak
from stickbreak.exceptions import NoPath


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
