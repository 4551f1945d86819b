"""Any family starts from the topics of any other, or of itself, over the same words."""

import numpy as np
import pytest
from tests.contract.small import OF_WORDS, bits, data_of, fitted, unfitted

import stickbreak
from stickbreak import CollapsedHDP
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.exceptions import InputError, InvalidCorpus

STARTED = [name for name in OF_WORDS if name != "BackoffTreeTopics"]  # the leaves of a tree are not topics to be given


@pytest.mark.parametrize("other", OF_WORDS)
@pytest.mark.parametrize("name", STARTED)
def test_fitted_model_starts_a_fit_as_its_table_does(name, other):
    X = data_of(name)
    model, table = (unfitted(name, init=init).fit(X) for init in (fitted(other), fitted(other).token_shares()))
    assert bits(model, name) == bits(table, name)
    assert model.trace_["objective"][0] != fitted(name).trace_["objective"][0]


@pytest.mark.parametrize("name", STARTED)
def test_start_from_a_model_survives_saving_checkpoints_and_going_on(name, tmp_path):
    X, init = data_of(name), fitted("VariationalHDP")
    model = unfitted(name, init=init).fit(X, checkpoint=tmp_path / "cut")
    resumed = unfitted(name, init=init).set_params(n_laps=6).fit(X, checkpoint=tmp_path / "cut", resume=True)
    model.save(tmp_path / "m")
    again = stickbreak.load(tmp_path / "m")
    assert bits(again.continue_fit(X, n_laps=2), name) == bits(resumed, name)
    np.testing.assert_array_equal(again.init, init.token_shares())


@pytest.mark.parametrize("name", STARTED)
def test_what_cannot_be_given_topics_is_refused(name):
    X = data_of(name)
    with pytest.raises(InputError, match=r"init is .*1\.5.*give"):
        unfitted(name, init=np.array(1.5)).fit(X)
    with pytest.raises(ValueError, match="not fitted"):
        unfitted(name, init=unfitted("CollapsedHDP")).fit(X)
    other = Corpus.from_counts(X.counts, vocabulary=[f"other{w}" for w in range(X.n_words)])
    named = CollapsedHDP(n_topics=3, n_laps=2, random_state=0).fit(
        Corpus.from_counts(X.counts, vocabulary=[f"word{w}" for w in range(X.n_words)])
    )
    with pytest.raises(InvalidCorpus, match="'other0' in the corpus but 'word0' in the model"):
        unfitted(name, init=named).fit(other)


def test_collapsed_fit_from_the_planted_topics_keeps_them():
    corpus, truth = planted_lda(150, 60, n_topics=5, mean_tokens=80, seed=0)
    model = CollapsedHDP(init=truth.topic_word, merge_laps=0, n_laps=5, random_state=0).fit(corpus)
    overlap = np.minimum(model.topic_word_[:, None], truth.topic_word[None]).sum(axis=2)
    assert model.starting_topics(corpus) == 5
    assert sorted(overlap.argmax(axis=1)) == list(range(5))
    assert overlap.max(axis=1).min() > 0.8
    stream = CollapsedHDP(init=truth.topic_word, init_sweeps=1, random_state=0).partial_fit(corpus)
    overlap = np.minimum(stream.topic_word_[:, None], truth.topic_word[None]).sum(axis=2)
    assert sorted(overlap.argmax(axis=1)) == list(range(5))
