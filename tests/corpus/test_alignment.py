"""Documents in the words of a model."""

import pytest

from stickbreak.corpus import Corpus, align
from stickbreak.exceptions import InputError


def test_alignment_moves_columns_and_counts_the_rest():
    corpus = Corpus.from_counts([[1, 2, 4, 0], [0, 3, 0, 0]], ["c", "x", "a", "b"], ["p", "q"])
    aligned, outside = align(corpus, ("a", "b", "c", "d"))
    assert aligned.counts.toarray().tolist() == [[4, 0, 1, 0], [0, 0, 0, 0]]
    assert (aligned.words, aligned.names, outside) == (("a", "b", "c", "d"), ("p", "q"), 5)
    assert aligned.counts.has_sorted_indices


def test_alignment_keeps_fractional_weights():
    aligned, outside = align(Corpus.from_counts([[0.5, 0.25]], ["x", "a"]), ("a",))
    assert aligned.counts.toarray().tolist() == [[0.25]]
    assert outside == 0.5


def test_numbered_columns_are_taken_as_they_stand():
    unnamed = Corpus.from_counts([[1, 2]])
    assert align(unnamed, ("a", "b"))[0].words == ("a", "b")
    named = Corpus.from_counts([[1, 2]], ["x", "y"])
    assert align(named, ("w0", "w1"))[0].counts.toarray().tolist() == [[1, 2]]
    with pytest.raises(InputError, match="2 columns, but the model has 3 words"):
        align(unnamed, ("a", "b", "c"))


def test_documents_without_any_common_word_are_refused():
    with pytest.raises(InputError, match="none of the words"):
        align(Corpus.from_counts([[1]], ["x"]), ("a",))
