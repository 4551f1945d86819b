"""Every family of words answers every question, and the answers are those of its own weights and words."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from tests.contract.small import FACES_OF_WORDS, data_of, fitted

import stickbreak
from stickbreak.corpus import Corpus
from stickbreak.evaluation import npmi
from stickbreak.exceptions import InputError

QUESTIONS = {
    "topics_table": lambda model, corpus: model.topics_table(corpus),
    "topics_over_time": lambda model, corpus: model.topics_over_time(corpus, by="year"),
    "topic_trends": lambda model, corpus: model.topic_trends(corpus),
    "topics_by": lambda model, corpus: model.topics_by(corpus, "kind"),
    "words_by": lambda model, corpus: model.words_by(corpus, "kind", level=1.0),
    "documents_of": lambda model, corpus: model.documents_of(largest(model), corpus),
    "topics_of": lambda model, corpus: model.topics_of(corpus),
    "word_topics": lambda model, corpus: model.word_topics(corpus),
    "words_of": lambda model, corpus: model.words_of(largest(model)),
    "search": lambda model, corpus: model.search([model.vocabulary_[0], model.vocabulary_[1]]),
    "similar_documents": lambda model, corpus: model.similar_documents(corpus, 0),
}


@pytest.fixture(params=FACES_OF_WORDS)
def name(request):
    return request.param


@pytest.fixture
def model(name):
    return fitted(name)


@pytest.fixture
def corpus(name):
    """The documents of the fit, with dates and kinds; the last is empty."""
    given = data_of(name)
    counts = given.counts.toarray()
    counts[-1] = 0
    n = len(counts)
    columns = {"when": pd.date_range("2019-01-01", periods=n, freq="30D"), "kind": [*"ab" * (n // 2), *"a" * (n % 2)]}
    return Corpus.from_counts(counts, vocabulary=given.vocabulary, names=[f"d{i}" for i in range(n)], metadata=columns)


def largest(model):
    shown = model.shown_topics(1)
    return int(shown.numbers[np.argmax(shown.shares)])


def weights(model, corpus):
    found = model.transform(corpus)
    return found.toarray() if sparse.issparse(found) else found


@pytest.mark.parametrize("question", QUESTIONS)
def test_answers_are_data_frames_and_those_of_a_saved_model(model, corpus, question, tmp_path):
    answer = QUESTIONS[question](model, corpus)
    assert isinstance(answer, pd.DataFrame)
    assert len(answer)
    assert answer.index.equals(pd.RangeIndex(len(answer)))
    assert all(dtype.kind in "iufOMT" for dtype in answer.dtypes)
    model.save(tmp_path / "model")
    pd.testing.assert_frame_equal(QUESTIONS[question](stickbreak.load(tmp_path / "model"), corpus), answer)


def test_shares_over_time_and_by_category_are_sums_of_weights(model, corpus):
    pi, N = weights(model, corpus), corpus.document_lengths
    over_time, by = model.topics_over_time(corpus, "when", "year"), model.topics_by(corpus, "kind")
    years = corpus.metadata["when"].to_pandas().dt.year.to_numpy()
    kinds = np.array(corpus.metadata["kind"].to_pylist())
    for row in over_time.itertuples():
        here = years == row.period.year
        assert row.mean_weight == pytest.approx(N[here] @ pi[here, row.topic] / N[here].sum(), abs=1e-12)
        assert row.tokens == N[here].sum()
    for row in by.itertuples():
        here, other = kinds == row.category, kinds != row.category
        assert row.mean_weight == pytest.approx(N[here] @ pi[here, row.topic] / N[here].sum(), abs=1e-12)
        expected = row.mean_weight - N[other] @ pi[other, row.topic] / N[other].sum()
        assert row.difference == pytest.approx(expected, abs=1e-12)


def test_documents_of_a_topic_have_its_weights(model, corpus):
    k, pi = largest(model), weights(model, corpus)
    found = model.documents_of(k, corpus, 5)
    assert list(found.columns) == ["document", "row", "weight", "low", "tokens"]
    assert (np.diff(found["low"]) <= 0).all()
    assert (found["low"] <= found["weight"]).all()
    np.testing.assert_allclose(found["weight"], pi[found["row"], k])
    assert found["document"].tolist() == [f"d{row}" for row in found["row"]]
    assert found["tokens"].tolist() == corpus.document_lengths[found["row"]].tolist()
    assert found["weight"].iloc[0] >= 0.9 * pi[corpus.document_lengths > 0, k].max()
    assert len(corpus) - 1 not in model.documents_of(k, corpus, 1000)["row"].tolist(), "the empty document"


def test_topics_of_documents_are_their_largest(model, corpus):
    pi = weights(model, corpus)
    found = model.topics_of(corpus, 2)
    assert list(found.columns) == ["document", "row", "topic", "label", "weight"]
    for row, part in found.groupby("row"):
        best = np.sort(pi[row])[::-1][:2]
        np.testing.assert_allclose(part["weight"], best[best > 0])
        np.testing.assert_allclose(part["weight"], pi[row, part["topic"]])
    assert len(corpus) - 1 not in found["row"].tolist()


def test_topics_of_words_are_expectations_given_topics_and_weights(model, corpus):
    found = model.word_topics(corpus[:6], n=1000)
    pi = weights(model, corpus[:6])
    joint = found.groupby(["row", "word"])["probability"].sum()
    np.testing.assert_allclose(joint, 1.0)
    for row in found.sample(40, random_state=0).itertuples():
        numbers = np.flatnonzero(pi[row.row])
        products = pi[row.row, numbers] * model.word_distributions(numbers)[:, model.vocabulary_.index(row.word)]
        expected = products[numbers == row.topic] / products.sum()
        assert row.probability == pytest.approx(float(expected[0]))
        assert row.count == corpus.counts[row.row, model.vocabulary_.index(row.word)]
    first = model.word_topics(corpus[:6])
    assert len(first) == corpus.counts[:6].nnz
    assert found.groupby(["row", "word"], sort=False)["probability"].max().tolist() == first["probability"].tolist()


def test_words_of_a_topic_are_in_the_order_of_relevance(model):
    k = largest(model)
    phi, p = model.word_distributions([k])[0], model.word_shares()
    for relevance in (0.0, 0.6, 1.0):
        found = model.words_of(k, relevance, 8)
        with np.errstate(divide="ignore"):
            expected = np.where(p > 0, np.log(phi) - (1 - relevance) * np.log(p), -np.inf)
        columns = [model.vocabulary_.index(word) for word in found["word"]]
        np.testing.assert_allclose(found["relevance"], np.sort(expected)[::-1][:8])
        np.testing.assert_allclose(found["relevance"], expected[columns])
        np.testing.assert_allclose(found["lift"], phi[columns] / p[columns])
        np.testing.assert_allclose(found["probability"], phi[columns])
        assert found["share_of_word"].between(0, 1 + 1e-12).all()
    for wrong in (-0.1, 1.1, "0.5", None, True):
        with pytest.raises(InputError, match=r"relevance is .*; give a number from 0 to 1"):
            model.words_of(k, wrong)


def test_shares_of_words_are_those_of_the_fit(name, model):
    p = model.word_shares()
    assert p.sum() == pytest.approx(1.0)
    if name in ("BackoffTreeTopics", "TopicModel"):
        counts = np.asarray(data_of(name).counts.sum(axis=0)).ravel()
        np.testing.assert_allclose(p, counts / counts.sum(), atol=0.01 if name == "TopicModel" else 1e-12)


def test_search_finds_where_the_tokens_of_words_are(model):
    words = model.vocabulary_[:2]
    found = model.search(words)
    assert list(found.columns) == ["topic", "label", "share_of_word", "lift"]
    assert (found["lift"] >= 1.0 - 1e-6).all()
    assert 0.0 < found["share_of_word"].sum() <= 1.0 + 1e-6
    assert (np.diff(found["share_of_word"]) <= 0).all()
    pd.testing.assert_frame_equal(model.search(" ".join(words)), found)
    numbers, sizes, joint = model.topics_of_words(np.array([0, 1]))
    k = found["topic"].iloc[0]
    by_word = joint[numbers == k][0] / joint.sum(axis=0)
    assert found["share_of_word"].iloc[0] == pytest.approx(by_word.mean())
    lift = joint[numbers == k].sum() / joint.sum() / sizes[numbers == k][0]
    assert found["lift"].iloc[0] == pytest.approx(lift)
    with pytest.raises(InputError, match="the model has no word 'nonsense'"):
        model.search(["nonsense"])
    with pytest.raises(InputError, match="words is empty: a search needs at least one word"):
        model.search(" ")


def test_similar_documents_are_the_nearest_by_weights(model, corpus):
    pi = weights(model, corpus)
    distance = np.sqrt(np.maximum(1 - np.sqrt(pi) @ np.sqrt(pi[3]), 0))
    found = model.similar_documents(corpus, "d3", 4)
    pd.testing.assert_frame_equal(model.similar_documents(corpus, 3, 4), found)
    others = np.setdiff1d(np.arange(len(corpus) - 1), [3])
    np.testing.assert_allclose(found["distance"], np.sort(distance[others])[:4], atol=1e-7)
    np.testing.assert_allclose(found["distance"], distance[found["row"]], atol=1e-7)
    for wrong, message in ((10**6, "rows count from 0"), ("nobody", "no document of the corpus has the name 'nobody'")):
        with pytest.raises(InputError, match=message):
            model.similar_documents(corpus, wrong)
    with pytest.raises(InputError, match="has no word of the model"):
        model.similar_documents(corpus, len(corpus) - 1)
    twice = Corpus.from_counts(corpus.counts, corpus.words, ["one", *["two"] * (len(corpus) - 1)])
    with pytest.raises(InputError, match="have the name 'two', in rows 1, 2, 3, 4, 5 and more; give one of these rows"):
        model.similar_documents(twice, "two")


def test_table_of_topics_has_shares_words_and_examples(model, corpus):
    plain, table = model.topics_table(), model.topics_table(corpus, n_words=4)
    assert list(plain.columns) == ["topic", "label", "share", "corpus_weight", "words"]
    assert table.columns[len(plain.columns) :].tolist() == ["coherence", "mean_weight", "documents", "examples"]
    shown, pi, N = model.shown_topics(1), weights(model, corpus), corpus.document_lengths
    np.testing.assert_array_equal(plain["topic"], shown.numbers)
    np.testing.assert_array_equal(plain["share"], shown.shares)
    np.testing.assert_array_equal(plain["corpus_weight"], shown.weights)
    assert [words.split() for words in table["words"]] == [[w for w, _ in row] for row in model.shown_topics(4).words]
    assert all(
        label.split(", ")[0] == words.split()[0] for label, words in zip(table["label"], table["words"], strict=True)
    )
    np.testing.assert_allclose(table["coherence"], npmi(model.word_distributions(shown.numbers), corpus))
    np.testing.assert_allclose(table["mean_weight"], N @ pi[:, shown.numbers] / N.sum())
    assert table["documents"].sum() == (pi[N > 0][:, shown.numbers].max(axis=1) > 0).sum()
    k = largest(model)
    examples = table.set_index("topic").loc[k, "examples"]
    assert examples.split(", ") == model.documents_of(k, corpus, 3)["document"].tolist()


def test_labels_are_distinct_and_given_ones_are_shown_and_saved(model, corpus, tmp_path):
    k = largest(model)
    made = model.topics_table()["label"].tolist()
    assert len(set(made)) == len(made)
    assert model.label({k: " encryption "}) is model
    assert model.labels_ == {k: "encryption"}
    model.save(tmp_path / "model")
    loaded = stickbreak.load(tmp_path / "model")
    assert loaded.labels_ == {k: "encryption"}
    for answer in (loaded.topics_table(), loaded.topics_over_time(corpus), loaded.search(model.vocabulary_[0])):
        assert set(answer.loc[answer["topic"] == k, "label"]) <= {"encryption"}
        assert "encryption" not in answer.loc[answer["topic"] != k, "label"].tolist()
    assert loaded.label({k: None}).labels_ == {}
    assert loaded.topics_table()["label"].tolist() == made
    for wrong in ({10**7: "a"}, {"0": "a"}, {k: ""}, {k: "a\nb"}, {k: 3}, {True: "a"}, "encryption", 3):
        with pytest.raises(InputError):
            model.label(wrong)
    assert model.labels_ == {k: "encryption"}
