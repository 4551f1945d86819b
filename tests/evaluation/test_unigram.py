import numpy as np
import pytest

from stickbreak.corpus import Corpus
from stickbreak.evaluation import unigram_completion
from stickbreak.exceptions import InvalidCorpus


def corpus(*rows):
    return Corpus.from_counts(np.array(rows))


def test_a_word_is_scored_by_its_smoothed_frequency():
    train, observed, held_out = corpus([3, 1, 0]), corpus([1, 0, 0], [0, 1, 0]), corpus([2, 0, 1], [0, 1, 0])
    expected = (2 * np.log(4 / 7) + np.log(2 / 7) + np.log(1 / 7)) / 4
    assert unigram_completion(train, observed, held_out) == pytest.approx(expected, rel=1e-14)


def test_documents_with_an_empty_half_are_left_out():
    train, observed, held_out = corpus([3, 1]), corpus([1, 0], [0, 0]), corpus([1, 0], [0, 5])
    assert unigram_completion(train, observed, held_out) == pytest.approx(np.log(4 / 6), rel=1e-14)


def test_other_words_are_refused():
    with pytest.raises(InvalidCorpus, match="3 words and the held-out ones 2"):
        unigram_completion(corpus([1, 1, 1]), corpus([1, 0]), corpus([0, 1]))
