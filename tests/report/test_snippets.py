from dataclasses import replace
from importlib import resources

import pandas as pd
import pytest

from stickbreak import TopicModel
from stickbreak.corpus import Corpus, TextOptions
from stickbreak.report import build_map, build_report
from stickbreak.report.documents import _WORD, best_passage, fetch_texts

PETS = frozenset({"cat", "dog", "fish"})


def test_passage_holds_the_most_different_words_of_the_topic():
    text = "cat " * 3 + "filler " * 60 + "A cat met a dog and a fish. " + "filler " * 60
    assert "cat met a dog and a fish." in best_passage(text, PETS, 60, str.lower)


def test_passage_forgets_the_words_that_lie_before_it():
    text = "A cat met a dog. " + "filler " * 60 + "A fish. " + "filler " * 60
    assert best_passage(text, PETS, 60, str.lower).startswith("A cat met a dog.")


def test_words_of_scripts_with_marks_and_joiners_are_whole():
    words = ["हिन्दी", "می\u200cروم"]
    text = "filler " * 60 + f"{words[0]}, {words[1]}."
    assert best_passage(text, frozenset(words), 60, str.lower).endswith(f"{words[0]}, {words[1]}.")
    assert _WORD.findall(f"{words[0]}, {words[1]}.") == words
    page = resources.files("stickbreak.report").joinpath("page", "topics.js").read_text(encoding="utf-8")
    assert f"snippet.split(/({_WORD.pattern})/u)" in page


def test_words_are_coloured_as_the_fit_counted_them(with_words):
    model, corpus = with_words(["IBM", "cafe", "new york", "bond", "goal", "team"])
    texts = ["IBM Café, ibm; New York new york"] * 5
    marks = {
        options: build_report(model, replace(corpus, text_options=options), texts=texts).documents[0].marks
        for options in (None, TextOptions(lowercase=False, strip_accents="unicode"), TextOptions(strip_accents="ascii"))
    }
    assert [list(found) for found in marks.values()] == [
        ["IBM", "ibm", "New", "York", "new", "york"],
        ["IBM", "new", "york"],
        ["IBM", "Café", "ibm", "New", "York", "new", "york"],
    ]
    accents = replace(corpus, text_options=TextOptions(strip_accents="unicode"))
    passage = build_report(model, accents, texts=["filler " * 100 + "Café"] * 5).documents[0].snippet
    assert passage.endswith("Café")


@pytest.mark.parametrize(("strip", "shown"), [(("html",), " A & B  http://c.d"), (None, "<p>A &amp; B</p> http://c.d")])
def test_texts_are_shown_without_tags_where_tags_are_not_counted(strip, shown):
    corpus = replace(Corpus.from_counts([[1], [2]]), text_options=TextOptions(strip=strip))
    text = "<p>A &amp; B</p> http://c.d"
    assert fetch_texts([text, "plain"], [0], corpus) == {0: shown}
    assert fetch_texts(lambda rows: [text for _ in rows], [1], corpus) == {1: shown}


@pytest.mark.parametrize("index", [[2, 0, 1], [7, 8, 9]])
def test_texts_of_a_series_are_taken_by_place(index):
    corpus = Corpus.from_counts([[1], [2], [3]])
    texts = pd.Series(["zero", "one", None], index=index)
    assert fetch_texts(texts, [0, 1, 2], corpus) == {0: "zero", 1: "one", 2: ""}


@pytest.mark.parametrize("given", [lambda words: words, lambda words: (" ".join(own) for own in words)])
def test_lists_of_words_and_generators_of_texts_are_shown(given):
    words = [["fresh", "bread", "butter"], ["stock", "bond"], ["bread", "salt"]] * 10
    model = TopicModel(n_topics=2, n_laps=2, random_state=0).fit(words)
    shown = build_report(model, given(words)).documents
    assert [one.snippet for one in shown] == [" ".join(own) for own in words]
    assert build_map(model, given(words)).document_map.searched.endswith("of texts")
