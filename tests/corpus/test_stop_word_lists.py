"""Stop words by the names of languages."""

import pytest

import stickbreak
from stickbreak.corpus import TextOptions, count_texts, languages, stop_word_lists, stop_words_of
from stickbreak.exceptions import InputError

SENTENCES = {
    "german": ("Der Hafen und die Schiffe sind alt, aber das Brot ist frisch.", "alt brot frisch hafen schiffe"),
    "french": ("Le navire est dans la tempête avec nous.", "navire tempête"),
    "spanish": ("Los barcos están en el puerto porque hay tormenta.", "barcos puerto tormenta"),
    "italian": ("Le navi sono nel porto perché della tempesta.", "navi porto tempesta"),
    "dutch": ("Het schip ligt niet in de haven maar op zee.", "haven ligt schip zee"),
    "russian": ("Корабль был в море, но они уже дома.", "дома корабль море"),
    "english": ("The ship isn't in the harbour because of the storm.", "harbour ship storm"),
}


def test_more_than_twenty_languages_have_stop_words():
    assert len(languages()) >= 20
    assert all(len(stop_words_of(language)) > 40 for language in languages())
    assert set(SENTENCES) <= set(languages())


@pytest.mark.parametrize("language", SENTENCES)
def test_stop_words_of_a_language_are_left_out(language, tmp_path):
    text, words = SENTENCES[language]
    options = TextOptions(stop_words=language)
    corpus = count_texts([text], options)
    assert " ".join(corpus.words) == words
    stickbreak.corpus.write_corpus(corpus, tmp_path / "corpus")
    assert stickbreak.corpus.open_corpus(tmp_path / "corpus").text_options == options
    assert " ".join(count_texts([text], TextOptions(stop_words=language, token_pattern=r"[^\W\d_]{3,}")).words) == words


def test_unknown_language_is_told_with_those_that_are_known():
    with pytest.raises(InputError, match=r"'klingon', which is not a known language; .* one of arabic, .*german"):
        TextOptions(stop_words="klingon")
    with pytest.raises(InputError, match="'de', which is not a known language"):
        stop_words_of("de")


def test_english_list_is_that_of_scikit_learn_without_the_package(monkeypatch):
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    assert stop_words_of("english") > ENGLISH_STOP_WORDS
    assert {"don", "isn"} <= stop_words_of("english")
    assert stop_word_lists._of_scikit_learn() == ENGLISH_STOP_WORDS
    monkeypatch.setattr(stop_word_lists, "find_spec", lambda name: None)
    assert stop_word_lists._of_scikit_learn() == ENGLISH_STOP_WORDS
