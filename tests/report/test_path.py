"""The joins of topics in a report: those of the path, with the words of the reduced models."""

from dataclasses import replace

import numpy as np
import pytest

from stickbreak import TopicModel
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.questions.topic_map import affinities, in_documents
from stickbreak.report import build_report
from stickbreak.report.write import figures_of


@pytest.fixture(scope="module")
def documents():
    return planted_lda(120, 40, n_topics=5, mean_tokens=40.0, seed=0)[0]


@pytest.fixture(scope="module")
def fitted(documents):
    model = TopicModel(n_topics=12, n_laps=6, random_state=0).fit(documents)
    model.find_path(documents)
    return model


def test_groups_of_the_report_have_the_words_of_the_reduced_model(fitted, documents):
    report = build_report(fitted, documents)
    K = fitted.n_topics_
    made = {k: tuple(word.word for word in topic.words) for k, topic in enumerate(report.topics)}
    shares = {k: topic.token_share for k, topic in enumerate(report.topics)}
    for i, join in enumerate(report.path.joins):
        made[K + i], made[join.left], made[join.right] = join.words, None, None
        shares[K + i] = shares.pop(join.left) + shares.pop(join.right)
        reduced = fitted.reduced(K - 1 - i)
        groups = sorted(shares, key=lambda k: -shares[k])
        assert [list(made[k][:6]) for k in groups] == reduced.top_words(6)
        np.testing.assert_allclose([shares[k] for k in groups], reduced.topic_shares_, rtol=1e-9)


def test_topics_without_a_path_are_joined_by_likeness_in_the_report(fitted, documents, model, corpus):
    assert build_report(fitted.reduced(1), documents).path is None
    fresh = fitted.joined([[0, 1]])
    assert fresh.described_path() is None
    found, weights = build_report(fresh, documents).path, fresh.transform(documents)
    affinity = (affinities(fresh.topic_word_) + in_documents(weights.T @ weights)) / 2
    np.fill_diagonal(affinity, 0.0)
    assert found.scores == found.standard_errors == ()
    assert {found.joins[0].left, found.joins[0].right} == set(np.unravel_index(affinity.argmax(), affinity.shape))
    assert found.heights[0] == pytest.approx(np.sqrt(1 - affinity.max()))
    assert list(found.heights) == sorted(found.heights)
    between = np.sum(1 - affinity[np.triu_indices(11, 1)]) / 11  # Ward's distances share out the sum of squares
    assert np.sum(np.square(found.heights)) / 2 == pytest.approx(between)
    assert (found.best, found.overview) == (11, 11)  # one joined already
    assert build_report(model, corpus).path.joins[-1].words


def test_groups_with_one_name_have_bands_of_their_own(fitted, documents):
    days = [f"2021-0{1 + d % 3}-01" for d in range(120)]
    data = build_report(fitted, Corpus.from_counts(documents.counts, documents.vocabulary, metadata={"day": days}))
    alike = tuple(replace(join, label="alike") for join in data.path.joins)
    bands = figures_of(replace(data, path=replace(data.path, joins=alike, overview=4)))["time"].data
    assert [band.name for band in bands].count("alike") > 1
    assert np.sum([band.y for band in bands], axis=0) == pytest.approx(np.sum(data.time.shares.shares, axis=0))
