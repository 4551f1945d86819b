"""Labelled documents: each label is a topic, and new documents get labels with probabilities."""

import json
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import stickbreak
from stickbreak import CollapsedHDP
from stickbreak.collapsed.packing import unpacked_shares
from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError, ModelFormatError
from stickbreak.model.document_labels import DocumentLabels, given_labels, names_in
from stickbreak.model.label_curve import LEAST_WEIGHT, documents_for_curve, fitted_curve, probabilities

from .steered_problems import labelled_documents, matched
from .test_files import same

SHORT: dict[str, Any] = {"n_laps": 14, "merge_laps": 9, "random_state": 0, "tolerance": None}
Labelled = tuple[Corpus, list[list[str] | None]]


@pytest.fixture(scope="module")
def labelled() -> Labelled:
    """Every fifth document has no label."""
    corpus, labels = labelled_documents(400, 1)
    return corpus, [None if d % 5 == 0 else row for d, row in enumerate(labels)]


@pytest.fixture(scope="module")
def model(labelled: Labelled) -> CollapsedHDP:
    corpus, labels = labelled
    return CollapsedHDP(final_passes="expected", random_state=0).fit(corpus, labels=labels)


def test_topics_of_labels_and_free_ones_are_the_planted(model: CollapsedHDP) -> None:
    assert model.labels_ == dict(enumerate(["L0", "L1", "L2", "L3"]))
    assert model.label_names_ == ["L0", "L1", "L2", "L3"]
    assert matched(model, 6)[:4] == [0, 1, 2, 3]
    assert sorted(matched(model, 6)[4:]) == [4, 5]


def test_labels_of_any_plain_kind_are_texts() -> None:
    assert names_in(np.array("x")) == ["x"]
    assert names_in([date(2026, 11, 25), 3.0, True, pd.NA]) == ["2026-11-25", "3", "True"]
    assert names_in(pd.Period("2026-11")) == ["2026-11"]
    lists = pd.Categorical.from_codes([0, 1], categories=pd.Index([["a"], ["b", "c"]], dtype=object))
    assert given_labels(Corpus.from_counts(np.ones((2, 2))), lists).names == ("a", "b", "c")


@pytest.mark.parametrize("value", [{"a": 1}, b"a", ["a", ["b"]], object(), [("a", "b")]])
def test_a_label_of_an_odd_kind_is_refused(value: Any) -> None:
    with pytest.raises(InputError, match=r"labels has .* for a document; give a text, number or date"):
        names_in(value)


def test_half_a_surrogate_pair_in_a_name_is_a_question_mark_in_tables(model: CollapsedHDP, labelled: Labelled) -> None:
    corpus = replace(labelled[0][:2], names=("a\ud800", "b"))
    assert model.label_probabilities(corpus).index.tolist() == ["a?", "b"]
    assert model.topics_of(corpus)["document"].iloc[0] == "a?"
    assert set(model.word_topics(corpus)["document"]) == {"a?", "b"}
    assert model.similar_documents(corpus, "b")["document"].tolist() == ["a?"]
    assert corpus.document_names[0] == "a\ud800"


def test_labels_of_new_documents_are_predicted_with_probabilities_that_hold(model: CollapsedHDP) -> None:
    corpus, labels = labelled_documents(300, 2)
    found, table = model.predict_labels(corpus), model.label_probabilities(corpus)
    has = np.array([[name in row for name in model.label_names_] for row in labels])
    assert np.mean([row[0] in own for row, own in zip(found, labels, strict=True)]) > 0.85
    p = table.to_numpy()
    assert p.mean() == pytest.approx(has.mean(), abs=0.03)
    sure = p > 0.9
    assert has[sure].mean() > 0.9
    assert has[p < 0.1].mean() < 0.1
    assert (sure | (p < 0.1)).mean() > 0.6
    assert table.columns.tolist() == model.label_names_
    assert table.index.tolist() == list(corpus.document_names)
    for row, own in zip(p, found, strict=True):
        assert [model.label_names_.index(name) for name in own] == list(np.argsort(-row)[: max(1, (row >= 0.5).sum())])


def test_no_document_has_a_token_in_the_topic_of_another_label(labelled: Labelled) -> None:
    corpus, labels = labelled
    model = CollapsedHDP(**SHORT).fit(corpus, labels=labels)
    assert model._kept is not None
    arrays, counts = model._kept.arrays, corpus.counts
    blocks = sorted((name for name in arrays if name.startswith("shares.")), key=lambda name: int(name[7:]))
    document, first = np.repeat(np.arange(400), np.diff(counts.indptr)), 0
    for name in blocks:
        size = next(n for n in range(1, counts.nnz + 1) if _fits(arrays[name], n))
        (shares,) = unpacked_shares(np.array(arrays[name]), [size])
        of = np.repeat(document[first : first + size], np.diff(shares.start))
        for d, k in set(zip(of.tolist(), shares.topic.tolist(), strict=True)):
            assert k >= 4 or not labels[d] or f"L{k}" in labels[d]
        first += size
    assert first == counts.nnz


def _fits(content: Any, size: int) -> bool:
    """Whether packed shares can be those of so many counts."""
    try:
        unpacked_shares(np.array(content), [size])
    except ValueError:
        return False
    return True


def test_threads_files_and_a_checkpoint_change_no_bit(labelled: Labelled, tmp_path: Path) -> None:
    corpus, labels = labelled
    one = CollapsedHDP(**SHORT, seeds={"L1": ["b0"], "free": ["e0", "e1"]}).fit(corpus, labels=labels)
    assert list(one.labels_.values()) == ["L0", "L1", "L2", "L3", "free"]
    assert same(one, clone_of(one, n_jobs=2).fit(corpus, labels=labels))
    assert same(one, clone_of(one, scratch=tmp_path / "scratch").fit(corpus, labels=labels))
    for n_laps in (5, 14):
        again = clone_of(one, n_laps=n_laps).fit(corpus, labels=labels, checkpoint=tmp_path / "c", resume=True)
    assert same(one, again)
    clone_of(one, n_laps=5).fit(corpus, labels=labels).save(tmp_path / "short")
    loaded = stickbreak.load(tmp_path / "short").continue_fit(corpus, n_laps=9)
    assert same(one, loaded)
    pd.testing.assert_frame_equal(loaded.label_probabilities(corpus), one.label_probabilities(corpus))
    with pytest.raises(InputError, match="labels"):
        clone_of(one).fit(corpus, labels=labels[::-1], checkpoint=tmp_path / "c", resume=True)


def clone_of(model: CollapsedHDP, **changes: Any) -> CollapsedHDP:
    return CollapsedHDP(**{**model.get_params(), **changes})


def test_a_saved_model_predicts_the_same_and_a_damaged_one_is_refused(
    model: CollapsedHDP, labelled: Labelled, tmp_path: Path
) -> None:
    model.save(tmp_path / "model")
    loaded = stickbreak.load(tmp_path / "model")
    assert loaded.predict_labels(labelled[0][:20]) == model.predict_labels(labelled[0][:20])
    head = tmp_path / "model" / "model.json"
    text = head.read_text()
    for name, wrong in (("label_names_", ["L0"] * 9), ("label_names_", [1]), ("label_curve_", [0.5])):
        content = json.loads(text)
        content["meta"]["values"][name] = wrong
        head.write_text(json.dumps(content))
        with pytest.raises(ModelFormatError, match="label"):
            stickbreak.load(tmp_path / "model")


def test_a_fit_without_labels_forgets_those_of_before(labelled: Labelled) -> None:
    corpus, labels = labelled
    model = CollapsedHDP(**SHORT).fit(corpus, labels=labels)
    plain = CollapsedHDP(**SHORT).fit(corpus)
    assert same(model.fit(corpus), plain)
    assert (model.labels_, model.label_names_) == ({}, [])
    with pytest.raises(InputError, match="no labels to predict"):
        model.predict_labels(corpus)


def test_y_is_ignored(labelled: Labelled) -> None:
    corpus, _ = labelled
    assert same(CollapsedHDP(**SHORT).fit(corpus, np.arange(400) % 3), CollapsedHDP(**SHORT).fit(corpus))


@pytest.mark.parametrize("name", sorted({*stickbreak.ESTIMATORS} - {"CollapsedHDP", "GibbsHDP", "LDA"}))
def test_other_methods_say_that_they_cannot_be_steered(name: str, labelled: Labelled) -> None:
    (corpus, labels), other = labelled, getattr(stickbreak, name)()
    with pytest.raises(InputError, match=f"{name} takes no labels; fit a CollapsedHDP, an LDA or a GibbsHDP"):
        other.fit(corpus, labels=labels)
    for predict in (other.predict_labels, other.label_probabilities):
        with pytest.raises(InputError, match="no labels to predict"):
            predict(corpus)
    with pytest.raises(InputError, match="cannot go on"):
        other.update(corpus)


def test_labels_are_columns_or_lists_of_any_kind(labelled: Labelled) -> None:
    import pyarrow as pa

    corpus = labelled[0][:4]
    beside = Corpus(
        corpus.counts, metadata=pa.table({"kind": ["x", "", "y", None], "tags": ['["b", "a"]', "[]", "[x", None]})
    )
    assert given_labels(beside, "kind").names == ("x", "y")
    found = given_labels(beside, "tags")
    assert (found.names, found.documents.topic.tolist()) == (("[x", "a", "b"), [2, 1, 0])
    assert given_labels(corpus, [1, 2.0, None, float("nan")]).names == ("1", "2")
    assert given_labels(corpus, pd.Series([["a", "a"], [], {"c", "b"}, "a"])).documents.start.tolist() == [
        0,
        1,
        1,
        3,
        4,
    ]
    assert names_in(np.array(["b", "a"])) == ["b", "a"]


def test_a_column_of_a_data_frame_has_labels() -> None:
    frame = pd.DataFrame(
        {"text": ["red blue red"] * 30 + ["sun moon sun"] * 30, "kind": ["colour"] * 30 + ["sky"] * 30}
    )
    model = CollapsedHDP(n_laps=5, random_state=0).fit(frame, text="text", labels="kind")
    assert model.predict_labels(["red red blue", "moon"]) == [["colour"], ["sky"]]
    with pytest.raises(InputError, match="the data frame has no column"):
        model.fit(frame, text="text", labels="nothing")


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([None, "", [], float("nan")], "no label for any document"),
        (["a", "b"], "2 values for 4 documents"),
        (["a\nb", None, None, None], "one line"),
        ("kind", "no columns beside"),
    ],
)
def test_labels_that_cannot_be_are_refused(labelled: Labelled, labels: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        CollapsedHDP(**SHORT).fit(labelled[0][:4], labels=labels)


def test_curve_is_the_one_that_labels_were_drawn_from() -> None:
    rng = np.random.default_rng(0)
    weights = rng.beta(0.3, 1.0, (4000, 5))
    p = probabilities(weights, [-1.0, 0.7])
    assert fitted_curve(weights, (rng.random(p.shape) < p).astype(float)) == pytest.approx([-1.0, 0.7], abs=0.1)
    assert np.isfinite(fitted_curve(weights, (weights > 0.5).astype(float))).all()
    assert probabilities(np.array([[0.0, 1.0]]), [0.0, 1.0]) == pytest.approx(
        np.array([[LEAST_WEIGHT, 1 - LEAST_WEIGHT]])
    )


def test_curve_is_learned_from_documents_with_labels_a_part_of_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stickbreak.model.label_curve.MOST_DOCUMENTS", 3)
    labels = DocumentLabels.of([[0], [], [1], [0, 1], [1], [0], []], 2)
    rows = documents_for_curve(labels, 0)
    assert rows.size == 3
    assert set(rows.tolist()) <= {0, 2, 3, 4, 5}


@pytest.mark.parametrize("kind", ["string", "Int64", "boolean"])
def test_missing_values_of_pandas_are_no_labels(kind):
    values = pd.Series([{"string": "a", "Int64": 1, "boolean": True}[kind], pd.NA], dtype=kind)
    assert [names_in(value) for value in values] == [[{"string": "a", "Int64": "1", "boolean": "True"}[kind]], []]
    assert names_in([pd.NA, "b"]) == ["b"]


def test_a_label_for_each_of_many_documents_is_taken_for_a_mistake(monkeypatch):
    monkeypatch.setattr("stickbreak.collapsed.steered.MOST_TOPICS", 4)
    with pytest.raises(InputError, match="have 5 topics, but there may be 3 at most"):
        CollapsedHDP(n_laps=1).fit(np.ones((5, 3)), labels=list("abcde"))


def test_topics_of_labels_count_for_max_topics():
    with pytest.raises(InputError, match="2 topics of seeds and labels and n_topics=5 others"):
        CollapsedHDP(n_topics=5, max_topics=6, n_laps=1).fit(np.ones((4, 9)), labels=list("abab"))


def test_a_token_begins_with_each_label_as_often():
    """Its topic is a label that the document lacks, or a free one, which is as likely as a label."""
    labels, n = DocumentLabels.of([[0, 1]], 3), 30_000
    for topic, expected in ((2, [1 / 2, 1 / 2, 0, 0]), (3, [1 / 3, 1 / 3, 0, 1 / 3]), (1, [0, 1, 0, 0])):
        drawn = labels.allowed(np.full(n, topic), np.zeros(n, int), np.random.default_rng(0))
        np.testing.assert_allclose(np.bincount(drawn, minlength=4) / n, expected, atol=0.015)
