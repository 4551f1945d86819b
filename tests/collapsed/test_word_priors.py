"""Eta for each word, and for each of the first topics: `CollapsedHDP` with a prior that is not symmetric."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stickbreak
from stickbreak import CollapsedHDP
from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError

from .steered_problems import OWN, WORDS, documents
from .test_files import same

SHORT: dict[str, Any] = {"n_laps": 14, "merge_laps": 9, "random_state": 0, "tolerance": None}
BY_WORD = np.where(np.arange(len(WORDS)) < OWN, 0.2, 0.05)
ROWS = np.full((2, len(WORDS)), 0.05)
ROWS[0, [0, 1, OWN, OWN + 1]] += 25.0
ROWS[1, 2 * OWN : 2 * OWN + 2] += 50.0


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return documents(300, [0, 1, 2, 3, 4], 0)


def test_eta_that_is_the_same_for_all_words_finds_what_the_number_finds(corpus: Corpus) -> None:
    number = CollapsedHDP(**SHORT).fit(corpus)
    array = CollapsedHDP(**SHORT, eta=np.full(corpus.n_words, 0.05)).fit(corpus)
    np.testing.assert_allclose(array.topic_word_, number.topic_word_, rtol=1e-6)
    assert "eta" not in array.trace_


def test_eta_by_word_stays_with_the_model_and_its_fit(corpus: Corpus, tmp_path: Path) -> None:
    whole = CollapsedHDP(**SHORT, eta=BY_WORD).fit(corpus)
    np.testing.assert_array_equal(whole.eta_, BY_WORD)
    np.testing.assert_allclose(whole.rest_word_, BY_WORD / BY_WORD.sum())
    assert whole.components_.sum() == pytest.approx(corpus.n_tokens + whole.n_topics_ * BY_WORD.sum())
    CollapsedHDP(**{**SHORT, "n_laps": 5}, eta=BY_WORD).fit(corpus).save(tmp_path / "short")
    loaded = stickbreak.load(tmp_path / "short")
    np.testing.assert_array_equal(loaded.eta, BY_WORD)
    assert same(whole, loaded.continue_fit(corpus, n_laps=9))
    for n_laps in (5, 14):
        again = CollapsedHDP(**{**SHORT, "n_laps": n_laps}, eta=BY_WORD).fit(
            corpus, checkpoint=tmp_path / "c", resume=True
        )
    assert same(whole, again)
    with pytest.raises(InputError, match="differs in its eta"):
        CollapsedHDP(**SHORT, eta=2 * BY_WORD).fit(corpus, checkpoint=tmp_path / "c", resume=True)


def test_words_in_a_minibatch_and_new_words_have_their_own_eta(corpus: Corpus) -> None:
    few = np.zeros((3, corpus.n_words))
    few[:, [3, 50, 90]] = 4.0
    number, array = (CollapsedHDP(n_topics=6, eta=eta, random_state=0) for eta in (0.05, np.full(96, 0.05)))
    for minibatch in (corpus, Corpus.from_counts(few, vocabulary=WORDS), corpus[:50]):
        number.partial_fit(minibatch)
        array.partial_fit(minibatch)
    np.testing.assert_allclose(array.topic_word_, number.topic_word_, rtol=1e-6)
    np.testing.assert_allclose(array.trace_["objective"], number.trace_["objective"], rtol=1e-6)
    fitted = CollapsedHDP(**SHORT, eta=BY_WORD).fit(corpus)
    more = Corpus.from_counts(np.eye(3) * 4, vocabulary=["a0", "new", "b1"])
    fitted.update(more)
    assert fitted.vocabulary_[-1] == "new"
    assert fitted.eta_[-1] == pytest.approx(BY_WORD.mean())


def test_rows_of_eta_are_topics_that_keep_their_numbers(corpus: Corpus) -> None:
    """The seeds of test_seeds.py, as a table: two of the planted topics are one where that is expected."""
    seeds = {"space": ["a0", "a1", "b0", "b1"], "war": ["c0", "c1"]}
    table, seeded = CollapsedHDP(**SHORT, eta=ROWS).fit(corpus), CollapsedHDP(**SHORT, seeds=seeds).fit(corpus)
    np.testing.assert_allclose(table.topic_word_, seeded.topic_word_, atol=1e-6)
    assert table.eta_ == 0.05
    assert table.labels_ == {}
    labelled = CollapsedHDP(**SHORT, eta=ROWS).fit(corpus, labels=[["x"] if d % 3 else [] for d in range(300)])
    assert labelled.labels_ == {0: "x"}
    assert set(labelled.top_words(2)[2]) <= {f"c{i}" for i in range(OWN)}


def test_path_of_joins_is_found_under_an_eta_by_word(corpus: Corpus) -> None:
    model = CollapsedHDP(**SHORT, eta=BY_WORD).fit(corpus)
    assert model.find_path(corpus).scores.size == model.n_topics_
    assert model.joined([[0, 1]]).n_topics_ == model.n_topics_ - 1


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"eta": [0.1, 0.2]}, r"shape \(2,\), but the documents have 96 words"),
        ({"eta": np.full((2, 3), 0.1)}, r"shape \(2, 3\), but the documents have 96 words"),
        ({"eta": [0.1] * 95 + [0.0]}, "eta holds a number outside"),
        ({"eta": [0.1] * 95 + [float("nan")]}, "eta holds a number outside"),
        ({"eta": np.full((1, 1, 96), 0.1)}, r"eta is an array of shape \(1, 1, 96\)"),
        ({"eta": ["a", "b"]}, "not an array of numbers"),
        ({"eta": BY_WORD, "learn": ["eta"]}, "an array, which is not learned"),
        ({"eta": ROWS, "seeds": {"space": ["a0"]}}, "seeds and eta of shape"),
        ({"eta": ROWS, "init": np.ones((2, 96))}, "eta of shape .* and init"),
        ({"eta": ROWS, "max_topics": 2}, "max_topics is 2"),
    ],
)
def test_eta_that_cannot_be_is_refused(corpus: Corpus, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        CollapsedHDP(**{**SHORT, **parameters}).fit(corpus)
