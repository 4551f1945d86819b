"""The joins of topics in a report: those of the path, with the words of the reduced models."""

import copy
import json
import re
from importlib import resources

import numpy as np
import pytest

from stickbreak import TopicModel
from stickbreak.corpus import planted_lda
from stickbreak.questions.topic_map import affinities, in_documents
from stickbreak.report import build_report, render_html
from stickbreak.report.data import JoinReport
from stickbreak.report.topics import _at_a_glance


@pytest.fixture(scope="module")
def documents():
    return planted_lda(120, 40, n_topics=5, mean_tokens=40.0, seed=0)[0]


@pytest.fixture(scope="module")
def fitted(documents):
    model = TopicModel(n_topics=12, n_laps=6, random_state=0).fit(documents)
    model.find_path(documents)
    return model


def test_report_has_the_path_of_the_model(fitted, documents):
    found, path = build_report(fitted, documents).path, fitted.path_
    assert found.scores == tuple(path.scores)
    assert (found.best, found.overview) == (path.best, path.overview)
    assert [(join.left, join.right) for join in found.joins] == [
        tuple(row) for row in path.linkage()[:, :2].astype(int)
    ]
    assert list(found.heights) == sorted(found.heights)


def test_report_counts_the_labels_that_were_given(fitted, documents):
    labelled = copy.copy(fitted).label({0: "bread", 2: "harbour"})
    assert (build_report(labelled, documents).n_labelled, build_report(fitted, documents).n_labelled) == (2, 0)


def test_a_group_has_the_label_that_it_was_given(fitted, documents):
    before = build_report(fitted, documents).path.joins
    labelled = copy.copy(fitted).label({14: "harbours", 22: "all of it"})  # of 12 topics: joins 2 and 10
    found = build_report(labelled, documents).path.joins
    assert {i: join.label for i, join in enumerate(found) if join != before[i]} == {2: "harbours", 10: "all of it"}


def chain(K):
    """Return the joins of K topics in which one group takes in a topic after the other."""
    return tuple(JoinReport(K + i - 1 if i else 0, i + 1, "", ()) for i in range(K - 1))


@pytest.mark.parametrize(("K", "overview", "expected"), [(100, 20, 31), (45, 20, 31), (30, 20, 21), (30, 25, 25)])
def test_no_group_at_a_glance_has_more_than_a_third_where_more_groups_help(K, overview, expected):
    equal = np.full(K, 1 / K)
    if K == 100:  # the last topics, which join last, have most tokens
        equal[-40:] = 0.9 / 40
        equal[:-40] = 0.1 / 60
    found = _at_a_glance(chain(K), equal, overview)
    largest = equal[: K - found + 1].sum()  # the group that took in K - found topics
    assert found == expected
    if found > overview:
        assert largest <= 1 / 3 < equal[: K - found + 2].sum()


def test_overview_stays_where_forty_groups_do_not_help():
    assert _at_a_glance(chain(200), np.full(200, 1 / 200), 20) == 20


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


def test_report_of_a_reduced_model_goes_on_down_the_path(fitted, documents):
    found = build_report(fitted.reduced(4), documents)
    assert (len(found.topics), len(found.path.scores), len(found.path.joins)) == (4, 4, 3)


def test_page_has_every_part_that_its_program_asks_for(fitted, documents):
    page = render_html(build_report(fitted, documents))
    program = resources.files("stickbreak.report").joinpath("page", "topics.js").read_text(encoding="utf-8")
    of_others = {"time-plot", "tree-plot", "tree-way", "tree-node", "page-heading"}
    asked = set(re.findall(r'byId\("([\w-]+)"\)', program)) - of_others
    assert {"path-slider", "path-groups", "map-plot"} <= asked
    for name in asked | {"joins-plot", "scores-plot", "overview"}:
        assert f'id="{name}"' in page
    assert '<label for="path-slider">' in page
    assert json.loads(build_report(fitted, documents).to_json())["path"]["joins"][0]["left"] >= 0
