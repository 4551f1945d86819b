"""The report of a tree: its nodes against the fitted model, its largest leaves against weights that are all known."""

import pytest

from stickbreak import BackoffTreeTopics
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.report import build_report
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


def test_words_of_many_leaves_never_fill_the_memory(forest, documents, monkeypatch):
    monkeypatch.setattr(report_topics, "_MOST_NUMBERS", 3 * documents.n_words)
    assert len(build_report(forest, documents).topics) == 3
    monkeypatch.setattr(report_topics, "_MOST_NUMBERS", 1)
    assert len(build_report(forest, documents).topics) == 1
