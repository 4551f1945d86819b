import numpy as np
import pytest

from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError
from stickbreak.prediction.words import check_same_words, document_blocks


def model_over(make_model, vocabulary):
    n_words = 3
    return make_model(np.full((1, n_words), 1 / n_words), None, vocabulary=vocabulary)


def test_same_words_names_the_first_column_that_differs(make_model):
    corpus = Corpus.from_counts([[1, 1, 1]], vocabulary=["cat", "dog", "eel"])
    with pytest.raises(InputError, match="column 1 is 'dog' in the corpus, but 'fox' in the model"):
        check_same_words(model_over(make_model, ["cat", "fox", "gnu"]), corpus)


@pytest.mark.parametrize("vocabulary", [["cat", "dog", "eel"], None])
def test_same_words_accepts_equal_words_and_numbered_columns(make_model, vocabulary):
    corpus = Corpus.from_counts([[1, 1, 1]], vocabulary=vocabulary)
    check_same_words(model_over(make_model, ["cat", "dog", "eel"]), corpus)


def test_same_words_accepts_a_model_of_numbered_columns(make_model):
    corpus = Corpus.from_counts([[1, 1, 1]], vocabulary=["cat", "dog", "eel"])
    check_same_words(model_over(make_model, None), corpus)


@pytest.mark.parametrize("n_documents", [0, 1, 5_000_000])
def test_document_blocks_cover_every_document_once(n_documents):
    blocks = list(document_blocks(n_documents, 1000))
    stops = [0] + [block.stop for block in blocks]
    assert [block.start for block in blocks] == stops[:-1]
    assert stops[-1] == n_documents
