"""Pictures show what the tables of a model say, and texts of documents as they stand."""

import numpy as np
import pytest

from stickbreak import BackoffTreeTopics, Corpus, TopicModel
from stickbreak.corpus import toy_bars
from stickbreak.exceptions import InputError
from stickbreak.plots.figures import heat_of_classes, map_of_topics


@pytest.fixture(scope="module")
def corpus():
    counts = toy_bars(n_documents=80, seed=0)[0].counts
    words = [f"<b>w{w}</b>" for w in range(counts.shape[1])]
    return Corpus.from_counts(counts, words)


@pytest.fixture(scope="module")
def dates():
    return [f"{2015 + d // 20}-0{1 + d % 9}-01" for d in range(80)]


@pytest.fixture(scope="module")
def model(corpus):
    fitted = TopicModel(n_topics=6, n_laps=5, random_state=0).fit(corpus)
    fitted.find_path(corpus)
    return fitted


@pytest.fixture(scope="module")
def tree(corpus):
    return BackoffTreeTopics(branching=(3, 4), n_laps=3, random_state=0).fit(corpus)


def test_bars_have_the_shares_of_the_largest_topics(model):
    (bars,) = model.plot.topics(3).data
    np.testing.assert_allclose(bars.x, np.sort(model.topic_shares_)[::-1][:3])
    assert model.plot.topics(3).layout.title.text == f"The 3 largest of {model.n_topics_} topics"
    assert model.plot.topics().layout.title.text == f"{model.n_topics_} topics"


def test_lines_have_the_shares_and_intervals_of_the_table(model, corpus, dates):
    figure = model.plot.over_time(corpus, dates, "year", topics=[2, 0])
    table = model.topics_over_time(corpus, dates, "year")
    for line, k in zip(figure.data, (2, 0), strict=True):
        rows = table[table["topic"] == k]
        np.testing.assert_allclose(line.y, rows["mean_weight"])
        np.testing.assert_allclose(np.add(line.y, line.error_y.array), rows["high"])
        np.testing.assert_allclose(np.subtract(line.y, line.error_y.arrayminus), rows["low"])
        assert line.name.startswith(f"{k}  ")


def test_discs_have_the_area_of_their_share_and_the_place_of_their_words(model):
    (discs,) = model.plot.map().data
    shares = np.array([share for _, _, share, _ in discs.customdata])
    np.testing.assert_allclose(np.sort(shares), np.sort(model.topic_shares_))
    large, sizes = shares > 0.1 * shares.max(), np.array(discs.marker.size)
    np.testing.assert_allclose((sizes[large] / sizes.max()) ** 2, shares[large] / shares.max())
    alike = TopicModel(n_topics=6, n_laps=5, random_state=0)
    assert np.ptp(discs.x) > 0
    assert len(discs.x) == model.n_topics_ == alike.n_topics


def test_documents_have_the_colour_of_the_group_of_their_largest_topic(model, corpus):
    every = model.plot.documents(corpus, n_groups=99)
    largest = model.transform(corpus).argmax(axis=1)
    sizes = sorted(len(points.x) for points in every.data)
    assert sizes == sorted(np.bincount(largest, minlength=model.n_topics_).tolist())
    names = [text for points in every.data for text in points.text]
    assert sorted(names, key=int) == list(corpus.document_names)
    assert "<b>w" not in " ".join(points.name for points in every.data)
    assert len(model.plot.documents(corpus, 30).data[0].x) <= 30
    texts = ["<i>cat</i> dog", "dog fish " * 60] * 20
    shown = TopicModel(n_topics=2, n_laps=2, random_state=0).fit(texts).plot.documents(texts)
    told = [text for points in shown.data for text in points.text]
    assert set(told) == {"&lt;i&gt;cat&lt;/i&gt; dog", ("dog fish " * 60)[:100].rstrip() + "…"}
    words = [["cat", "dog"], ["sea", "fish"]] * 20
    shown = TopicModel(n_topics=2, n_laps=2, random_state=0).fit(words).plot.documents(words)
    assert {text for points in shown.data for text in points.text} == {"cat dog", "sea fish"}


def test_a_vertical_line_meets_as_many_branches_as_topics_are_left(model):
    lines, nodes = model.plot.hierarchy().data
    K = model.n_topics_
    assert sorted(nodes.x) == list(range(1, K))
    xs = np.array([x for x in lines.x if x is not None], dtype=float).reshape(-1, 4)
    for left in range(2, K + 1):
        at = left - 0.5
        assert sum(((xs[:, 1] < at) & (at < xs[:, 0])).tolist() + ((xs[:, 2] < at) & (at < xs[:, 3])).tolist()) == left


def test_branches_do_not_cross(model):
    K, row = model.n_topics_, {}
    for at, name in enumerate(model.plot.hierarchy().layout.yaxis.ticktext):
        row[int(name.split()[0])] = {at}
    for i, (a, b) in enumerate(model.hierarchy_[:, :2].astype(int).tolist()):
        row[K + i] = row[a] | row[b]
        assert max(row[K + i]) - min(row[K + i]) == len(row[K + i]) - 1


def test_nodes_of_a_tree_hold_the_tokens_of_their_children(tree):
    (boxes,) = tree.plot.hierarchy().data
    values = dict(zip(boxes.ids, boxes.values, strict=True))
    for parent in set(boxes.parents) - {""}:
        assert sum(values[i] for i, p in zip(boxes.ids, boxes.parents, strict=True) if p == parent) == values[parent]
    assert values[boxes.ids[0]] == tree.leaf_tokens_.sum()
    assert len(tree.plot.map().data[0].x) == tree.n_topics_
    assert len(tree.plot.topics(2).data[0].x) == 2


def test_trace_is_drawn_pass_by_pass(model):
    (line,) = model.plot.trace("n_topics").data
    np.testing.assert_array_equal(line.x, model.trace_["lap"])
    np.testing.assert_array_equal(line.y, model.trace_["n_topics"])
    np.testing.assert_array_equal(model.plot.trace().data[0].y, model.trace_["objective"])
    with pytest.raises(InputError, match="no column 'speed'; choose one of objective"):
        model.plot.trace("speed")


def test_heat_compares_with_the_mean_and_marks_what_is_no_chance():
    shares, p = np.array([[0.1, 0.4], [0.9, np.nan]]), np.array([[0.5, 0.01], [np.nan, np.nan]])
    times, plain = heat_of_classes(["one", "two"], ["<a>", "b"], shares, [3, 1], p).data
    mean = (0.1 * 3 + 0.4) / 4
    np.testing.assert_allclose(times.z[0], np.log2([0.1 / mean, 0.4 / mean]))
    np.testing.assert_allclose(plain.z[1], [0.9, np.nan])
    assert [list(row) for row in times.text] == [["", "•"], ["", ""]]
    assert times.customdata[0][0][1] == "&lt;a&gt;"


def test_no_two_labels_of_the_map_cover_each_other():
    rng = np.random.default_rng(0)
    positions, shares = rng.normal(size=(200, 2)), rng.dirichlet(np.ones(200))
    labels = [f"a long label {k}" for k in range(200)]
    (discs,) = map_of_topics(positions, np.arange(200), shares, labels, [[label] for label in labels]).data
    named = [k for k, text in enumerate(discs.text) if text]
    assert int(np.argmax(shares)) in named
    assert 5 < len(named) < 100
    places = positions[named] / np.ptp(positions, axis=0)
    near = np.abs(places[:, None] - places[None])
    np.fill_diagonal(near[..., 0], 1)
    assert ((near[..., 0] > 0.1) | (near[..., 1] > 0.01)).all()


def test_effects_of_a_term_have_their_intervals(model, corpus):
    given = Corpus.from_counts(corpus.counts, corpus.vocabulary, metadata={"x": np.arange(80) / 80})
    table = model.effects(given, "x", n_draws=2)
    rows = table[table["term"] == "x"].sort_values("estimate", kind="stable")
    (points,) = model.plot.effects(given, "x", n_draws=2).data
    np.testing.assert_allclose(points.x, rows["estimate"])
    np.testing.assert_allclose(points.error_x.array, rows["high"] - rows["estimate"])
    np.testing.assert_allclose(points.error_x.arrayminus, rows["estimate"] - rows["low"])
    with pytest.raises(InputError, match="no term 'y'; give one of 'x'"):
        model.plot.effects(given, "x", "y", n_draws=2)
