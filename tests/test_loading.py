"""`stickbreak.load`: any model, or the kind that was asked for."""

import pytest

import stickbreak
from stickbreak.exceptions import InputError, ModelFormatError
from stickbreak.model.topic_estimator import TopicEstimator


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Return the folder of a saved `TopicModel`."""
    corpus, _ = stickbreak.corpus.toy_bars(n_documents=20, seed=0)
    folder = tmp_path_factory.mktemp("loading") / "bars"
    stickbreak.TopicModel(n_topics=5, n_laps=1, random_state=0).fit(corpus).save(folder)
    return folder


@pytest.mark.parametrize("kind", [None, stickbreak.TopicModel, TopicEstimator])
def test_load_returns_the_saved_class(saved, kind):
    assert type(stickbreak.load(saved, kind)) is stickbreak.TopicModel


def test_load_refuses_a_model_of_another_kind(saved):
    with pytest.raises(ModelFormatError, match=r"holds a TopicModel, not a GibbsHDP; give kind=TopicModel"):
        stickbreak.load(saved, stickbreak.GibbsHDP)


def test_load_asks_for_the_kind_before_it_reads(tmp_path):
    with pytest.raises(InputError, match="kind is"):
        stickbreak.load(tmp_path / "nothing", dict)
