"""Topics of documents by their vectors: planted clusters are described by the words planted in their texts."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.manifold import trustworthiness

import stickbreak
from stickbreak.corpus import Corpus, GroupedVectors, TextOptions, count_texts, write_corpus
from stickbreak.exceptions import InputError
from stickbreak.questions.document_map import document_map, placed_documents, topics_of_map

SUBJECTS = (("bread", "butter", "salt", "soup"), ("ship", "sea", "sail", "wave"), ("court", "judge", "law", "trial"))
N, DIM = 240, 12


@pytest.fixture(scope="module")
def planted():
    """Texts of one subject each, all with words that say nothing, and vectors around the place of the subject."""
    rng = np.random.default_rng(0)
    subject = rng.integers(len(SUBJECTS), size=N)
    common = ["day", "year", "people", "thing", "place", "time"]
    texts = [" ".join([*rng.choice(SUBJECTS[k], 4), *rng.choice(common, 3)]) for k in subject]
    vectors = rng.normal(size=(len(SUBJECTS), DIM))[subject] + 0.15 * rng.normal(size=(N, DIM))
    return subject, texts, vectors


@pytest.fixture(scope="module")
def frame(planted):
    subject, texts, vectors = planted
    days = pd.date_range("2020-01-01", periods=N, freq="D")
    return pd.DataFrame({"text": texts, "embedding": list(vectors), "day": days, "kind": [f"k{k}" for k in subject]})


@pytest.fixture(scope="module")
def model(planted):
    return stickbreak.VectorTopics(random_state=0).fit(planted[1], vectors=planted[2])


@pytest.fixture(scope="module")
def documents(planted):
    return count_texts(planted[1], vectors=planted[2])


def test_clusters_have_the_words_of_their_texts(model, documents, planted):
    assert model.n_topics_ == len(SUBJECTS)
    assert sorted(map(sorted, model.top_words(4))) == sorted(map(sorted, SUBJECTS))
    largest = model.transform(documents).argmax(axis=1)
    for k, words in enumerate(model.top_words(4)):
        assert {frozenset(SUBJECTS[subject]) for subject in planted[0][largest == k]} == {frozenset(words)}
    np.testing.assert_allclose(model.components_.sum() - model.components_.size * model.eta_, documents.n_tokens)
    np.testing.assert_allclose(np.sort(model.topic_weights_), np.sort(np.bincount(planted[0]) / N), atol=0.02)


def test_the_words_follow_the_weights_of_their_documents(model, documents):
    weights = model.transform(documents)
    np.testing.assert_allclose(model.components_ - model.eta_, (documents.counts.T @ weights).T, atol=1e-9)


def test_vectors_are_told_apart_by_direction_and_the_words_do_not_matter(planted, model, documents):
    other = count_texts(["bread"] * N, vocabulary=model.vocabulary_, vectors=7 * planted[2])
    np.testing.assert_allclose(model.transform(other), model.transform(documents), atol=1e-9)


def test_a_frame_has_texts_and_vectors_in_columns(frame, model, documents):
    of_frame = stickbreak.VectorTopics(random_state=0).fit(frame, text="text", vectors="embedding")
    assert of_frame.transform(frame).tobytes() == model.transform(documents).tobytes()
    written = frame.assign(embedding=[str(one.tolist()) for one in frame["embedding"]])
    assert of_frame.transform(written).tobytes() == model.transform(documents).tobytes()
    by = of_frame.topics_by(frame, "kind")
    top = by.loc[by.groupby("category")["mean_weight"].idxmax()]
    assert sorted(top["topic"]) == [0, 1, 2]
    assert (top["mean_weight"] > 0.99).all()
    assert of_frame.documents_of(0, frame)["weight"].min() > 0.99
    assert len(of_frame.topics_over_time(frame, "day"))
    assert stickbreak.report.build_report(of_frame, frame).document_map is not None


def test_documents_with_several_vectors_have_several_topics(planted):
    subject, texts, vectors = planted
    rng = np.random.default_rng(1)
    pairs = [np.stack([vectors[d], vectors[(d + 1) % N]] * 3) + rng.normal(0, 0.1, (6, DIM)) for d in range(N)]
    both = [f"{texts[d]} {texts[(d + 1) % N]}" for d in range(N)]
    model = stickbreak.VectorTopics(random_state=0).fit(both, vectors=pairs)
    assert isinstance(model.vector_model_, stickbreak.GaussianHDP)
    assert (model.topic_weights_ > 0.05).sum() == len(SUBJECTS)
    weights = model.transform(count_texts(both, vectors=pairs))
    mixed = subject != np.roll(subject, -1)
    assert (np.sort(weights, axis=1)[mixed, -2] > 0.3).all()
    assert (weights.max(axis=1)[~mixed] > 0.8).mean() > 0.9  # a small topic takes part in a few
    groups = GroupedVectors.from_arrays(pairs)
    assert model.transform(count_texts(both, vectors=groups)).tobytes() == weights.tobytes()


def test_the_map_keeps_neighbours_among_the_vectors_of_a_topic(model, documents):
    found = document_map(model, documents)
    own = model.map_vectors(documents)
    within = [trustworthiness(own[at], found.positions[at]) for at in (found.topics == k for k in range(3))]
    by_weights = placed_documents(model.transform(documents), found.rows, N, topics_of_map(model), 0)
    without = [trustworthiness(own[at], by_weights.positions[at]) for at in (found.topics == k for k in range(3))]
    assert np.mean(within) > np.mean(without) + 0.1


def test_a_saved_model_keeps_words_and_vectors(model, documents, tmp_path):
    model.label({0: "first"})
    model.save(tmp_path / "model")
    loaded = stickbreak.load(tmp_path / "model", kind=stickbreak.VectorTopics)
    assert loaded.transform(documents).tobytes() == model.transform(documents).tobytes()
    assert loaded.top_words() == model.top_words()
    assert loaded.labels_ == {0: "first"}
    assert loaded.vector_model_.means_.tobytes() == model.vector_model_.means_.tobytes()
    assert loaded.score(documents) == model.score(documents)


def test_slices_splits_and_other_columns_keep_the_vectors(documents):
    rows = np.array([5, -1, 3])
    assert (documents[rows].vectors == documents.vectors[rows]).all()
    assert (documents[2:7].vectors == documents.vectors[2:7]).all()
    train, held = documents.split(0.25, seed=1)
    assert len(train.vectors) == len(train)
    assert len(held.vectors) == len(held)
    other, _ = stickbreak.corpus.align(documents, ["ship", "bread"])
    assert other.vectors is documents.vectors
    assert documents.halves()[0].vectors is documents.vectors


def test_the_same_seed_gives_the_same_topics_on_any_number_of_threads(planted, model):
    again = stickbreak.VectorTopics(random_state=0, n_jobs=2).fit(planted[1], vectors=planted[2])
    assert again.components_.tobytes() == model.components_.tobytes()


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (None, "the documents have no vectors; give stickbreak.corpus.count_texts(texts, vectors=...)"),
        (np.zeros((3, 2)), f"there are 3 vectors for {N} documents"),
        ([[1.0, 2.0]] * (N - 1) + [[1.0]], f"the vector of document {N - 1} has 1 numbers, but that of the first 2"),
        (["[1, 2]"] * (N - 1) + ["none"], f"the vector of document {N - 1} is 'none'; give a list of numbers"),
        (np.full((N, 2), np.nan), "vectors must be finite"),
    ],
)
def test_wrong_vectors_are_refused(planted, vectors, message):
    with pytest.raises(InputError, match=re.escape(message)):
        stickbreak.VectorTopics().fit(planted[1], vectors=vectors)


@pytest.mark.parametrize("given", [{"text": "body"}, {"options": TextOptions()}])
def test_a_corpus_is_not_counted_again(documents, given):
    with pytest.raises(InputError, match="data frame"):
        stickbreak.VectorTopics().fit(documents, **given)


def test_what_a_model_of_vectors_cannot_do_is_refused(model, documents, planted, tmp_path):
    texts = planted[1]
    predictions = (
        lambda: model.left_to_right(documents),
        lambda: model.complete(*documents.halves()),
        lambda: stickbreak.evaluation.evaluate(model, documents),
    )
    for predict in predictions:
        with pytest.raises(InputError, match="does not predict words"):
            predict()
    with pytest.raises(InputError, match="the documents have no vectors"):
        model.transform(texts)
    with pytest.raises(InputError, match="vectors have 2 numbers, but those of the fit had 12"):
        model.transform(count_texts(texts, vocabulary=model.vocabulary_, vectors=np.ones((N, 2))))
    with pytest.raises(InputError, match="fitted to one vector of each document"):
        model.transform(count_texts(texts, vectors=[np.ones((2, DIM))] * N))
    with pytest.raises(InputError, match="a corpus folder does not hold"):
        write_corpus(documents, tmp_path / "folder")
    assert model.transform(Corpus.from_counts(documents[:0])).shape == (0, model.n_topics_)


def test_a_corpus_with_words_of_its_own_is_taken(model, planted):
    own = count_texts(["whale ship"], vectors=planted[2][:1])
    assert model.transform(own).tobytes() == model.transform(count_texts(["sea"], vectors=planted[2][:1])).tobytes()
    assert model.score(own) == model.score(count_texts(["ship"], vocabulary=model.vocabulary_, vectors=planted[2][:1]))


def test_columns_may_have_any_name(frame, model, documents):
    numbered = pd.DataFrame({0: frame["text"], 1: frame["embedding"]})
    of_numbered = stickbreak.VectorTopics(random_state=0).fit(numbered, text=0, vectors=1)
    assert of_numbered.transform(numbered).tobytes() == model.transform(documents).tobytes()


@pytest.mark.parametrize(
    ("n", "message"),
    [(1, "there is one vector, so they tell no topics apart"), (8, "the documents all point the same way, so they")],
)
def test_vectors_without_a_difference_are_refused(n, message):
    texts = ["bread and butter", "butter on bread"] * (n // 2) or ["bread"]
    with pytest.raises(InputError, match=message):
        stickbreak.VectorTopics().fit(texts, vectors=np.outer(np.arange(1, n + 1), [1.0, 2.0, 3.0]))


def test_missing_columns_are_named(frame):
    fitted = stickbreak.VectorTopics(random_state=0).fit(frame, text="text", vectors="embedding")
    words = stickbreak.TopicModel(n_topics=3, n_laps=2, random_state=0).fit(frame[["text"]], text="text")
    for one in (fitted, words):
        other = frame.rename(columns={"text": "body"})
        with pytest.raises(InputError, match=r"no column 'text'; give the column of the texts this name"):
            one.transform(other)
        assert one.transform(other.rename(columns={"body": "text"})).shape == (N, one.n_topics_)
    with pytest.raises(InputError, match="no column 'embedding'; give the column of the vectors this name"):
        fitted.transform(frame[["text"]])
    with pytest.raises(InputError, match=re.escape("give fit(X, text='text', vectors='embedding')")):
        stickbreak.VectorTopics().fit(frame, vectors="embedding")


def test_scores_take_vectors_as_transform_does(model, planted):
    _, texts, vectors = planted
    several = [np.stack([own, own + 0.01]) for own in vectors]
    pairs = stickbreak.VectorTopics(random_state=0).fit(texts, vectors=several)
    one, two = count_texts(texts, vectors=vectors), count_texts(texts, vectors=several)
    assert pairs.transform(one).shape == (N, pairs.n_topics_)
    with pytest.raises(InputError, match="no group has two vectors"):
        pairs.score(one)
    for ask in (model.transform, model.score):
        with pytest.raises(InputError, match="fitted to one vector of each document"):
            ask(two)


def test_it_says_that_it_cannot_continue(model, documents):
    with pytest.raises(InputError, match="cannot continue; fit again, with a larger n_laps"):
        model.continue_fit(documents, n_laps=3)
