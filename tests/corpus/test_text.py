import dataclasses
import json

import numpy as np
import pyarrow as pa
import pytest
from sklearn.feature_extraction.text import CountVectorizer

from stickbreak.corpus import TextOptions, count_texts
from stickbreak.corpus.phrases import neighbours
from stickbreak.corpus.words import unicode_words
from stickbreak.exceptions import InputError, InvalidCorpus

ALL = TextOptions(stop_words=None, min_df=1, max_df=1.0)


def random_texts(n_documents=200, seed=0):
    rng = np.random.default_rng(seed)
    words = ["".join(rng.choice(list("abcdeé"), size=rng.integers(2, 6))) for _ in range(300)]
    share = 1.0 / np.arange(1, 301)
    return [" ".join(rng.choice(words, size=30, p=share / share.sum())) for _ in range(n_documents)]


@pytest.mark.parametrize(
    "settings",
    [
        {"min_df": 5, "max_df": 0.2},
        {"min_df": 0.05, "max_df": 30},
        {"min_df": 3, "max_df": 1.0, "ngram_range": (1, 2)},
        {"min_df": 2, "max_df": 0.5, "strip_accents": "unicode"},
    ],
)
def test_counts_equal_those_of_scikit_learn(settings):
    texts = random_texts()
    vectorizer = CountVectorizer(token_pattern=r"(?u)\b[^\W\d_]{3,}\b", **settings)
    expected = vectorizer.fit_transform(texts)
    corpus = count_texts(texts, TextOptions(stop_words=None, **settings))
    assert corpus.words == tuple(vectorizer.get_feature_names_out())
    assert (corpus.counts != expected).nnz == 0


def test_max_features_keeps_the_most_frequent_words():
    texts = random_texts()
    everything = count_texts(texts, ALL)
    corpus = count_texts(texts, dataclasses.replace(ALL, max_features=20))
    largest = np.sort(everything.counts.sum(axis=0).A1)[-20:]
    assert np.sort(corpus.counts.sum(axis=0).A1).tolist() == largest.tolist()
    assert list(corpus.words) == sorted(corpus.words)


def test_unicode_words_keep_every_script_and_its_marks():
    text = "Äpfel Ёлка ελληνικά हिन्दी עִבְרִית می‌خواهم x86 snake_case 12 ab cafe\u0301s don't"
    assert unicode_words(text) == [
        "Äpfel",
        "Ёлка",
        "ελληνικά",
        "हिन्दी",
        "עִבְרִית",
        "می‌خواهم",
        "cafe\u0301s",
        "don",
    ]


def test_a_word_of_stacked_marks_takes_no_longer_than_others():
    strange = "za" + "\u0301\u0317" * 5000  # a pattern with nested repeats does not end before the digit
    assert unicode_words(f"{strange}1 {strange} {strange}_") == [strange]


def test_ascii_and_unicode_words_agree():
    text = "Abc ab1 abcd_e a-bcd, 'efg' 9abc abc9 (hij) kl. mno"
    assert unicode_words(text) == ["Abc", "bcd", "efg", "hij", "mno"]
    assert unicode_words(text + " é") == ["Abc", "bcd", "efg", "hij", "mno"]


def test_spellings_of_one_word_are_counted_together():
    assert count_texts(["café", "cafe\u0301"], ALL).counts.toarray().tolist() == [[1], [1]]


def test_english_stop_words_include_what_apostrophes_leave():
    corpus = count_texts(["I don't think the bread isn't good", "bread"], TextOptions(max_df=1.0))
    assert corpus.words == ("bread", "good", "think")


def test_own_stop_words_go_through_the_same_tokenizing():
    corpus = count_texts(["Bread Butter can't", "jam"], dataclasses.replace(ALL, stop_words=("BREAD", "can't")))
    assert corpus.words == ("butter", "jam")


@pytest.mark.parametrize(("n_documents", "kept"), [(39, 1), (40, 2), (60, 3), (100, 5), (200, 5)])
def test_min_df_is_lowered_for_small_collections(n_documents, kept):
    """Word number i is in i documents: how many documents does the rarest kept word need?"""
    texts = [" ".join("w" + "abcdefg"[i] * 3 for i in range(7) if d < i + 1) for d in range(n_documents)]
    corpus = count_texts(texts, TextOptions(min_df=5, max_df=1.0))
    assert np.bincount(corpus.counts.indices).min() == kept


def test_max_df_share_does_not_empty_a_tiny_collection():
    assert count_texts(["bread", "bread butter"]).words == ("bread", "butter")
    assert count_texts(["bread"] * 20 + ["butter"]).words == ("butter",)


def test_documents_without_words_are_kept():
    corpus = count_texts(["", "bread", "1 2 3"], ALL, names=["a", "b", "c"])
    assert corpus.document_lengths.tolist() == [0, 1, 0]
    assert corpus.names == ("a", "b", "c")


def test_fixed_vocabulary_is_neither_pruned_nor_extended():
    words = ("butter", "the", "zebra")
    corpus = count_texts(["The butter, the bread"] * 30, vocabulary=words)
    assert corpus.words == words
    assert corpus.counts.toarray()[0].tolist() == [1, 2, 0]


def test_fixed_vocabulary_gives_the_counts_of_the_fit():
    texts = ["bread and butter", "butter of the bread", "bread butter"] * 20
    options = TextOptions(ngram_range=(1, 2), max_df=1.0)
    fitted = count_texts(texts, options)
    assert "bread butter" in fitted.words
    for again in (options, TextOptions()):
        assert (count_texts(texts, again, vocabulary=fitted.words).counts != fitted.counts).nnz == 0


def test_options_survive_json():
    options = TextOptions(stop_words=("a", "b"), ngram_range=(1, 2))
    assert TextOptions(**json.loads(json.dumps(dataclasses.asdict(options)))) == options


@pytest.mark.parametrize(
    "settings",
    [
        {"stop_words": "klingon"},
        {"min_df": 0},
        {"min_df": 1.5},
        {"max_df": -1},
        {"max_features": 0},
        {"ngram_range": (2, 1)},
        {"token_pattern": "("},
        {"token_pattern": ""},
        {"token_pattern": "(a)(b)"},
        {"strip_accents": "all"},
        {"min_df": True},
    ],
)
def test_senseless_options_are_refused(settings):
    with pytest.raises(InputError, match=next(iter(settings))):
        TextOptions(**settings)


@pytest.mark.parametrize(
    ("texts", "options", "message"),
    [
        ([], ALL, "no texts at all"),
        (["1 2", "the"], TextOptions(), "no word is left: token_pattern finds no words"),
        (["bread", 7], ALL, "text 1 is int 7, not a string"),
        ("one text", ALL, "give a list of texts"),
    ],
)
def test_texts_that_make_no_corpus_are_refused(texts, options, message):
    with pytest.raises(InvalidCorpus, match=message):
        count_texts(texts, options)


@pytest.mark.parametrize(
    ("settings", "share", "reason"),
    [
        ({"min_df": 2, "max_df": 1.0}, 30, "fewer than 2 documents; lower --min-df"),
        ({"min_df": 1, "max_df": 0.5}, 40, "more than 50 documents; raise --max-df"),
        ({"min_df": 1, "max_df": 1.0, "max_features": 1}, 60, "not frequent enough; raise max_features"),
        ({"min_df": 1, "max_df": 1.0, "max_features": 103}, None, ""),  # three of ten million would be left out
        ({"min_df": 2, "max_df": 1.0, "ngram_range": (1, 2)}, None, ""),  # most pairs of words are rare in any texts
    ],
)
def test_a_large_share_of_words_that_are_left_out_is_told(caplog, settings, share, reason):
    # of each ten words four are in all documents, three in their own document alone, three in every other document
    texts = [f"sea sea sea sea {3 * letters(i)} {3 * ('ship ' if i % 2 else 'sail ')}" for i in range(100)]
    count_texts(texts, TextOptions(stop_words=None, **settings))
    told = [record.getMessage() for record in caplog.records]
    assert len(told) == (share is not None)
    if told:
        assert f"{share} % of the words of the texts are left out" in told[0]
        assert reason in told[0]


def letters(number):
    """Return a word of its own for a number below a thousand."""
    return "own" + "".join("abcdefghij"[int(digit)] for digit in f"{number:03d}") + " "


def test_pruning_that_leaves_nothing_says_what_each_option_removed():
    texts = ["common " + "".join(chr(97 + int(c)) for c in f"{d:04d}") for d in range(100)]
    with pytest.raises(
        InvalidCorpus, match=r"101 different words in 100 documents: min_df=5 removes 100 and max_df=0\.5"
    ):
        count_texts(texts)


@pytest.mark.parametrize(("vocabulary", "message"), [([], "empty"), (["a", "a"], "twice"), ("abc", "one string")])
def test_fixed_vocabulary_is_checked(vocabulary, message):
    with pytest.raises(InvalidCorpus, match=message):
        count_texts(["bread"], vocabulary=vocabulary)


@pytest.mark.parametrize("phrases", [False, True])
@pytest.mark.parametrize(
    ("pattern", "words"), [(r"@(\w+)|\w+", ("anna", "bert")), (r"\w*", ("anna", "bert", "greets"))]
)
def test_a_match_without_a_word_is_left_out(pattern, words, phrases):
    options = TextOptions(token_pattern=pattern, phrases=phrases, min_df=1, max_df=1.0)
    assert count_texts(["@anna greets @bert."] * 3, options).words == words


def test_what_stands_between_two_words_of_a_pattern_parts_them():
    assert list(neighbours("@anna @bert x @carl", r"@(\w+)|\w+")) == ["anna", "bert", None, "carl"]
    assert list(neighbours("anna bert", r"\w*")) == ["anna", "bert"]


def test_texts_and_vectors_of_a_reader_of_arrow_are_read_once():
    table = pa.table({"t": ["bread salt", "salt"], "v": [[1.0, 0.0], [0.0, 2.0]]})
    corpus = count_texts(table.to_reader(), text="t", vectors="v")
    assert corpus.counts.toarray().tolist() == [[1, 1], [0, 1]]
    assert corpus.vectors.tolist() == [[1, 0], [0, 2]]
