"""Notebooks show the topics of a fitted model, and the parameters of one that is not fitted."""

import html
import re

import numpy as np
import pytest
from tests.contract.small import FACES_OF_WORDS, fitted, unfitted

import stickbreak


@pytest.mark.parametrize("name", FACES_OF_WORDS)
def test_a_fitted_model_shows_its_largest_topics(name):
    model = fitted(name)
    shown = model._repr_html_()
    table = model.topics_table().sort_values("share", ascending=False, kind="stable").head(20)
    rows = re.findall(r"<tr>(.*?)</tr>", shown)[1:]
    cells = [re.findall(r"<(?:th|td)[^>]*>([^<]*)</", row) for row in rows]
    assert [int(row[0]) for row in cells] == table["topic"].tolist()
    assert [row[1] for row in cells] == [f"{share:.2%}" for share in table["share"]]
    assert [html.unescape(row[2]) for row in cells] == table["label"].tolist()
    assert [html.unescape(row[3]) for row in cells] == table["words"].tolist()
    assert model._repr_mimebundle_() == {"text/plain": repr(model), "text/html": shown}


def test_words_and_labels_are_text_and_not_markup():
    words = ["<script>", "a&b", '"', "'", "</td>", "plain"]
    counts = np.random.default_rng(0).integers(0, 5, size=(30, 6))
    corpus = stickbreak.Corpus.from_counts(counts, words)
    model = unfitted("TopicModel").fit(corpus).label({0: "<b>bold</b>"})
    shown = model._repr_html_()
    assert not {"<script>", "<b>", "a&b"} & set(re.findall(r"<script>|<b>|a&b(?!;)", shown))
    assert "&lt;b&gt;bold" in shown
