"""The report of a tree: its nodes against the fitted model, its largest leaves against weights that are all known."""

import json
import re

import numpy as np
import pytest
from scipy import sparse

from stickbreak import BackoffTreeTopics
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.evaluation import npmi
from stickbreak.exceptions import InputError
from stickbreak.report import build_report, render_html
from stickbreak.report import topics as report_topics


@pytest.fixture(scope="module")
def documents():
    drawn, _ = planted_lda(60, 40, n_topics=5, mean_tokens=25, seed=0)
    counts = drawn.counts.toarray()
    counts[7] = 0
    return Corpus.from_counts(counts, vocabulary=[f"word{w}" for w in range(40)])


@pytest.fixture(scope="module")
def forest(documents):
    return BackoffTreeTopics(branching=(3, 2, 5), n_laps=8, random_state=0).fit(documents)


@pytest.fixture(scope="module")
def report(forest, documents):
    return build_report(forest, documents)


@pytest.fixture
def five_leaves(forest, documents, monkeypatch):
    monkeypatch.setattr(report_topics, "_MOST_TOPICS", 5)
    return build_report(forest, documents, n_examples=2)


def way(nodes, node):
    path = []
    while node.parent >= 0:
        path.append(node.child)
        node = nodes[node.parent]
    return tuple(reversed(path))


def test_nodes_of_the_report_are_those_of_the_model(forest, report):
    tree = report.tree
    root = forest.tree_
    assert (tree.branching, tree.n_topics) == ((3, 2, 5), forest.n_topics_)
    assert tree.n_nodes == len(tree.nodes) == len(list(root.walk()))
    for node in tree.nodes:
        there = root.descend(way(tree.nodes, node))
        assert (node.n_tokens, node.n_topics, node.n_children) == (there.n_tokens, there.n_topics, len(there.children))
        assert node.topic == (there.index if there.is_leaf else None)
        assert [(w.word, w.probability) for w in node.words] == there.words(10)
    assert {way(tree.nodes, node) for node in tree.nodes} == {node.path for node in root.walk()}


def test_topics_know_their_nodes(forest, report):
    for topic in report.topics:
        assert way(report.tree.nodes, report.tree.nodes[topic.node]) == forest.node_of(topic.number).path
    cut = report_topics.describe_tree(forest, 7)
    for number, place in report_topics.nearest_nodes(cut, tuple(forest.leaves_.tolist())).items():
        path = forest.node_of(number).path
        there = way(cut.nodes, cut.nodes[place])
        assert there == path[: len(there)]
        known = {way(cut.nodes, node) for node in cut.nodes}
        assert len(there) == len(path) or path[: len(there) + 1] not in known


@pytest.mark.parametrize("most", [1, 2, 7, 20])
def test_largest_nodes_are_kept_and_are_a_tree(forest, most):
    tree = report_topics.describe_tree(forest, most)
    assert len(tree.nodes) == most
    assert tree.n_nodes == len(list(forest.tree_.walk()))
    sizes = sorted((node.n_tokens for node in forest.tree_.walk()), reverse=True)
    assert [node.n_tokens for node in tree.nodes] == sizes[:most]
    assert all(node.parent < place for place, node in enumerate(tree.nodes))


def test_topics_of_the_report_are_the_largest_leaves(forest, documents, five_leaves):
    order = np.argsort(-forest.leaf_tokens_, kind="stable")[:5]
    assert [topic.number for topic in five_leaves.topics] == forest.leaves_[order].tolist()
    assert [topic.index for topic in five_leaves.topics] == list(range(5))
    assert [topic.token_share for topic in five_leaves.topics] == forest.topic_shares_[order].tolist()
    words = [[(w.word, w.probability) for w in topic.words] for topic in five_leaves.topics]
    assert words == [forest.node_of(int(z)).words(20) for z in forest.leaves_[order]]
    expected = npmi(forest.word_distributions(forest.leaves_[order]), documents)
    assert [topic.coherence for topic in five_leaves.topics] == pytest.approx(list(expected))


def test_documents_are_counted_with_the_leaves_that_are_not_shown(forest, documents, five_leaves):
    dense = forest.transform(documents).toarray()
    for topic in five_leaves.topics:
        share = dense[:, topic.number]
        assert topic.n_present == (share >= 0.05).sum()
        assert topic.n_largest == ((share == dense.max(axis=1)) & (share > 0)).sum()
        assert [part for _, part in topic.documents] == [
            share[five_leaves.documents[at].row] for at, _ in topic.documents
        ]
    assert 0 < sum(topic.token_share for topic in five_leaves.topics) < 0.9
    assert 0 < sum(topic.n_largest for topic in five_leaves.topics) < 50


def test_known_weights_are_not_made_again(forest, documents, report, monkeypatch):
    weights = forest.transform(documents)
    monkeypatch.setattr(type(forest), "transform", lambda *_: pytest.fail("asked again"))
    for given in (weights, sparse.coo_array(weights)):
        assert build_report(forest, documents, weights=given).to_json() == report.to_json()
    with pytest.raises(InputError, match=r"shape \(60, 29\) but there are 60 documents and 30 topics"):
        build_report(forest, documents, weights=weights[:, :29])


def test_words_of_many_leaves_never_fill_the_memory(forest, documents, monkeypatch):
    monkeypatch.setattr(report_topics, "_MOST_NUMBERS", 3 * documents.n_words)
    assert len(build_report(forest, documents).topics) == 3
    monkeypatch.setattr(report_topics, "_MOST_NUMBERS", 1)
    assert len(build_report(forest, documents).topics) == 1


def test_tree_describes_fewer_documents_of_a_large_corpus(forest, documents, monkeypatch):
    monkeypatch.setattr("stickbreak.report.build._TREE_DOCUMENTS", 20)
    assert build_report(forest, documents).corpus.n_described == 20
    assert build_report(forest, documents, max_documents=30).corpus.n_described == 30


def test_page_holds_the_tree_and_its_program_once(report, model, corpus):
    page = render_html(report)
    assert page.count('id="tree-plot"') == 1
    block = re.search(r'id="report-data">(.*?)</script>', page, re.DOTALL)[1]
    assert json.loads(block)["tree"] == json.loads(report.to_json())["tree"]
    plain = json.loads(build_report(model, corpus).to_json())
    assert plain["tree"] is None
    assert [topic["number"] for topic in plain["topics"]] == [0, 1, 2]


def test_page_of_many_leaves_stays_small():
    rng = np.random.default_rng(0)
    documents = Corpus.from_counts(rng.poisson(0.2, (300, 400)), vocabulary=[f"word{w}" for w in range(400)])
    model = BackoffTreeTopics(branching=(10, 30, 30), n_laps=2, random_state=0).fit(documents)
    assert model.n_topics_ > 3000
    data = build_report(model, documents)
    assert len(data.tree.nodes) == report_topics.MOST_NODES < data.tree.n_nodes
    assert len(data.topics) == 300
    assert len(data.to_json()) < 4_000_000
