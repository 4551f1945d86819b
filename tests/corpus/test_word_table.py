"""The table of words beside its slow twin: scikit-learn's CountVectorizer with the words of `unicode_words`."""

import dataclasses
from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from stickbreak.corpus import TextOptions, count_texts, word_table
from stickbreak.corpus.preparing import preparation
from stickbreak.corpus.reading.blocks import arrow_texts, blocks_of_texts
from stickbreak.corpus.stop_word_lists import stop_words_of
from stickbreak.corpus.text import count_blocks
from stickbreak.corpus.words import character_runs, unicode_words
from stickbreak.exceptions import InvalidCorpus

EVERYTHING = TextOptions(stop_words=None, min_df=1, max_df=1.0)
NEAR_WORDS = st.sampled_from(
    "abcXYZ éÉßİıſK\u0301\u0308\u200c\u200d़िकही語ΣσςⅣ²٣7_- \n™ﬁ\ud800\U0001d400\U00011000\U000e0100\0"
)
TEXTS = st.lists(st.text(NEAR_WORDS, max_size=30) | st.text(max_size=30), min_size=1, max_size=6)


def slow_counts(texts, options, stop_words=()):
    """Count as before there was a table; words and counts, or None if there is no word."""
    vectorizer = CountVectorizer(
        tokenizer=unicode_words,
        token_pattern=None,
        preprocessor=preparation(options),
        stop_words=sorted(stop_words) or None,
        dtype=np.int32,
    )
    try:
        counts = vectorizer.fit_transform(text.encode("utf-8", "replace").decode() for text in texts)
    except ValueError:
        return None
    return vectorizer.get_feature_names_out().tolist(), counts.toarray().tolist()


def counts_of(texts, options):
    try:
        corpus = count_texts(texts, options)
    except InvalidCorpus:
        return None
    assert corpus.counts.has_canonical_format
    return list(corpus.words), corpus.counts.toarray().tolist()


@settings(max_examples=300, deadline=None)
@given(TEXTS, st.booleans(), st.sampled_from([None, "ascii", "unicode"]))
@example(["ＡＢＣ abc™ ΑΣ ΟΔΟΣ", "K²abc _é éé éée_ aé\u0301b"], True, "unicode")
def test_table_counts_what_the_regular_expression_finds(texts, lowercase, strip_accents):
    options = dataclasses.replace(EVERYTHING, lowercase=lowercase, strip_accents=strip_accents)
    assert counts_of(texts, options) == slow_counts(texts, options)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from(["the", "THE", "bread", "Butter", "don't", "été", "x"]), min_size=1, max_size=30))
def test_stop_words_are_passed_over(words):
    texts = [" ".join(words), " ".join(words[::2])]
    options = dataclasses.replace(EVERYTHING, stop_words="english")
    assert counts_of(texts, options) == slow_counts(texts, options, stop_words_of("english"))


def test_every_character_is_of_the_kind_that_the_regular_expression_says():
    """Each alone between letters: a mark or letter joins them, a digit spoils the word, anything else parts it."""
    letters, marks, digits = character_runs(0x110000)
    for code in range(0x80, 0x110000, 7):
        in_letters, in_marks, in_digits = (
            any(begin <= code < end for begin, end in runs if begin <= code) for runs in (letters, marks, digits)
        )
        found = unicode_words(f"éab{chr(code)}cde")
        expected = 1 if in_letters or in_marks else 0 if in_digits else 2
        assert len(found) == expected, hex(code)


@pytest.mark.parametrize("block", [1, 100, 1 << 20])
def test_block_size_does_not_matter(monkeypatch, block):
    rng = np.random.default_rng(0)
    texts = [" ".join("".join(rng.choice(list("abcé"), 3)) for _ in range(20)) for _ in range(80)]
    monkeypatch.setattr(word_table, "_BLOCK", block)
    assert counts_of(texts, EVERYTHING) == slow_counts(texts, EVERYTHING)


@settings(max_examples=100, deadline=None)
@given(TEXTS, st.booleans(), st.sampled_from([1, 10, 1 << 16]), st.integers(1, 3))
@example(["abc " * 30, "é" * 50, "", "ABC"], True, 10, 2)
@example(["ÉTÉ\0ÀBC", "plain", "ÉTÉ", "aé\u0301b ΟΔΟΣ", "ΟΔΟΣ"], True, 1 << 16, 1)  # a zero byte parts texts inside
@example(["été", "plain", "e\u0301te\u0301", "x e\u0301te\u0301"], True, 1 << 16, 1)
def test_blocks_give_the_counts_of_their_texts(texts, lowercase, n_bytes, n_blocks):
    """Bytes of many texts at once, not composed, cut anywhere between documents."""
    before = word_table._BLOCK
    word_table._BLOCK = n_bytes
    try:
        blocks = [block for i in range(n_blocks) for block in blocks_of_texts(texts[i::n_blocks])]
        options = dataclasses.replace(EVERYTHING, lowercase=lowercase)
        ordered = [text for i in range(n_blocks) for text in texts[i::n_blocks]]
        counts, encoded = count_blocks(blocks, options)
        words = encoded.to_pylist()
    finally:
        word_table._BLOCK = before
    expected = slow_counts(ordered, options)
    order = sorted(range(len(words)), key=words.__getitem__)
    found = [words[column] for column in order], counts.toarray()[:, order].tolist()
    assert found == (expected or ([], [[] for _ in texts]))


def test_table_grows_with_its_words():
    words = ["".join(letters) for letters in np.random.default_rng(0).choice(list("abcdefghij"), (30_000, 5))]
    table = word_table.WordTable((), lowercase=True, prepare=str.lower)
    texts = [" ".join(words[begin : begin + 7]) for begin in range(0, len(words), 7)]
    counts = table.counts([arrow_texts(texts)])
    assert sorted(table.words.to_pylist()) == sorted(set(words))
    totals = dict(zip(table.words.to_pylist(), np.bincount(counts.indices, weights=counts.data), strict=True))
    assert totals == Counter(words)


def test_words_of_one_hash_stay_apart(monkeypatch):
    """With one slot in use, every word is looked for along the whole table."""
    monkeypatch.setattr(word_table.secrets, "randbits", lambda n: 0)
    monkeypatch.setattr(word_table, "count_block", word_table.count_block.py_func)
    from stickbreak.corpus.kernels import words as kernel

    monkeypatch.setattr(kernel, "_PRIME", np.uint64(0))
    texts = ["abc abd abc", "abd xyz abcd"]
    assert counts_of(texts, EVERYTHING) == slow_counts(texts, EVERYTHING)


def test_vocabulary_is_counted_in_its_order():
    corpus = count_texts(["The BREAD the jam", "x"], vocabulary=["jam", "the", "cake", "bread"])
    assert corpus.counts.toarray().tolist() == [[1, 2, 0, 1], [0, 0, 0, 0]]
