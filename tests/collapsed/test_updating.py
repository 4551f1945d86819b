"""New documents for a fitted model: numbers, labels and counts stay, and new subjects become new topics."""

from typing import Any

import numpy as np
import pytest

import stickbreak
from stickbreak import CollapsedHDP
from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError, InvalidCorpus

from .steered_problems import OWN, WORDS, documents, labelled_documents, matched
from .test_files import same


@pytest.fixture(scope="module")
def before() -> CollapsedHDP:
    model = CollapsedHDP(final_passes="expected", random_state=0).fit(documents(300, [0, 1, 2, 3], 0))
    return model.label({0: "first", 3: "last"})


@pytest.fixture
def model(before: CollapsedHDP, tmp_path: Any) -> CollapsedHDP:
    before.save(tmp_path / "before")
    loaded: CollapsedHDP = stickbreak.load(tmp_path / "before")
    return loaded


def test_a_new_subject_becomes_a_new_topic_and_the_others_keep_numbers_and_labels(
    before: CollapsedHDP, model: CollapsedHDP
) -> None:
    new = documents(200, [0, 2, 5], 1)
    model.update(new)
    assert matched(model, 6) == [*matched(before, 6), 5]
    assert model.labels_ == {0: "first", 3: "last"}
    assert model.n_documents_seen_ == 500
    tokens = model.components_.sum() - model.eta_ * model.components_.size
    assert tokens == pytest.approx(before._topics.N.sum() + new.n_tokens, rel=1e-6)
    for k in (1, 3):  # what the new documents are not about stays
        assert (
            0.5
            * np.abs(model.topic_word_[k] - before.topic_word_[matched(before, 6).index(matched(model, 6)[k])]).sum()
            < 0.1
        )


def test_documents_of_known_subjects_add_no_topic(before: CollapsedHDP, model: CollapsedHDP) -> None:
    for seed in (2, 3):
        model.update(documents(150, [0, 1, 2, 3], seed))
        assert matched(model, 6) == matched(before, 6)
    assert model.tables_.sum() > before.tables_.sum()


def test_an_update_that_was_cut_short_goes_on_from_its_checkpoint(model: CollapsedHDP, tmp_path: Any) -> None:
    new, place = documents(80, [0, 5], 4), tmp_path / "c"

    def start(n_laps: int) -> CollapsedHDP:
        return stickbreak.load(tmp_path / "before").set_params(n_laps=n_laps, merge_laps=9)

    whole = start(14).update(new)
    start(5).update(new, checkpoint=place)
    again = start(14).update(new, checkpoint=place, resume=True)
    assert same(whole, again)
    assert len(again.trace_["lap"]) == 14
    with pytest.raises(InputError, match="differs in its counts"):
        start(14).update(documents(80, [0, 5], 5), checkpoint=place, resume=True)
    with pytest.raises(InputError, match="differs in its topics"):
        again.set_params(n_laps=14).update(new, checkpoint=place, resume=True)


def test_threads_and_files_change_no_bit_and_the_seed_is_that_of_the_model(
    before: CollapsedHDP, model: CollapsedHDP, tmp_path: Any
) -> None:
    new, found = documents(80, [0, 5], 4), []
    for changes in ({}, {"n_jobs": 2}, {"scratch": tmp_path / "scratch"}):
        other = stickbreak.load(tmp_path / "before").set_params(n_laps=14, merge_laps=9, **changes)
        found.append(other.update(new))
    assert same(found[0], found[1])
    assert same(found[0], found[2])


def test_new_words_join_after_those_of_the_model(model: CollapsedHDP, tmp_path: Any) -> None:
    known = documents(200, [0, 5], 5)
    words = [word.replace("f", "new") for word in WORDS]
    new = Corpus.from_counts(known.counts[:, ::-1], vocabulary=words[::-1])
    model.set_params(n_laps=60).update(new)
    assert model.vocabulary_[: len(WORDS)] == tuple(WORDS)
    assert set(model.vocabulary_[len(WORDS) :]) == {f"new{w}" for w in range(OWN)}
    assert all(word.startswith("new") for word in model.top_words(OWN)[4])
    model.save(tmp_path / "wider")
    loaded = stickbreak.load(tmp_path / "wider")
    np.testing.assert_array_equal(
        loaded.transform(new[:5].counts.toarray() @ _into(new, loaded)), loaded.transform(_aligned(new[:5], loaded))
    )


def _into(corpus: Corpus, model: CollapsedHDP) -> np.ndarray:
    found = np.zeros((corpus.n_words, model.n_features_in_))
    for w, word in enumerate(corpus.words):
        found[w, model.vocabulary_.index(word)] = 1
    return found


def _aligned(corpus: Corpus, model: CollapsedHDP) -> Corpus:
    return stickbreak.corpus.align(corpus, model.vocabulary_)[0]


def test_texts_are_counted_as_in_the_fit_with_new_words() -> None:
    texts = ["red blue red"] * 30 + ["sun moon sun"] * 30
    model = CollapsedHDP(n_laps=5, random_state=0).fit(texts)
    model.update(["sun comet comet star"] * 15 + ["red moon"] * 15)
    assert set(model.vocabulary_) == {"red", "blue", "sun", "moon", "comet", "star"}
    assert model.transform(["comet"]).shape == (1, model.n_topics_)


def test_seeds_stay_whole_and_labels_go_on() -> None:
    corpus, labels = labelled_documents(200, 0)
    model = CollapsedHDP(seeds={"free": ["e0"]}, n_laps=30, final_passes="expected", random_state=0)
    model.fit(corpus, labels=labels)
    curve, pseudo = model.label_curve_, model._topics.pseudo
    more, of_more = labelled_documents(100, 1)
    model.update(more, labels=of_more)
    assert list(model.labels_.values()) == ["L0", "L1", "L2", "L3", "free"]
    assert matched(model, 6)[:4] == [0, 1, 2, 3]
    assert model.label_curve_ != curve
    assert (model._topics.pseudo != pseudo).nnz == 0
    with pytest.raises(InputError, match="'L9', which the model was not fitted with"):
        model.update(more, labels=["L9"] * 100)


def test_what_an_update_cannot_do_is_said(model: CollapsedHDP) -> None:
    with pytest.raises(InputError, match="fitted without"):
        model.update(documents(5, [0], 0), labels=["x"] * 5)
    with pytest.raises(InvalidCorpus, match="empty"):
        model.update(Corpus.from_counts(np.zeros((2, len(WORDS))), vocabulary=WORDS))
    model.set_params(n_laps=3).update(documents(20, [0], 0))
    with pytest.raises(InputError, match="no state to continue"):
        model.continue_fit(documents(20, [0], 0), n_laps=1)


def test_a_stream_goes_on_from_an_update(model: CollapsedHDP) -> None:
    labels, n_topics = model.labels_, model.n_topics_
    model.set_params(n_laps=5).update(documents(50, [0, 1], 6))
    model.partial_fit(documents(50, [3], 7))
    assert model.labels_ == labels
    assert model.n_topics_ >= n_topics


def test_words_of_a_new_subject_join_although_most_new_texts_have_them():
    old = ["orbit launch moon", "faith church prayer", "moon orbit rocket", "church faith psalm"] * 10
    model = CollapsedHDP(n_laps=3, random_state=0).fit(old)
    model.update(["vaccine trial dose", "dose vaccine trial", "trial dose vaccine"] * 5)
    assert {"vaccine", "trial", "dose"} <= set(model.vocabulary_)
