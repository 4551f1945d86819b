from dataclasses import replace

import pytest

from stickbreak.corpus import Corpus, TextOptions
from stickbreak.report.documents import best_passage, fetch_texts

PETS = frozenset({"cat", "dog", "fish"})


def test_passage_holds_the_most_different_words_of_the_topic():
    text = "cat " * 3 + "filler " * 60 + "A cat met a dog and a fish. " + "filler " * 60
    assert "cat met a dog and a fish." in best_passage(text, PETS, 60)


def test_passage_forgets_the_words_that_lie_before_it():
    text = "A cat met a dog. " + "filler " * 60 + "A fish. " + "filler " * 60
    assert best_passage(text, PETS, 60).startswith("A cat met a dog.")


@pytest.mark.parametrize(("strip", "shown"), [(("html",), " A & B  http://c.d"), (None, "<p>A &amp; B</p> http://c.d")])
def test_texts_are_shown_without_tags_where_tags_are_not_counted(strip, shown):
    corpus = replace(Corpus.from_counts([[1], [2]]), text_options=TextOptions(strip=strip))
    text = "<p>A &amp; B</p> http://c.d"
    assert fetch_texts([text, "plain"], [0], corpus) == {0: shown}
    assert fetch_texts(lambda rows: [text for _ in rows], [1], corpus) == {1: shown}
