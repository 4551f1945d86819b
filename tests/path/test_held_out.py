"""Tokens held out: how many, of which documents, and that they and the others are all there are."""

import numpy as np
import pytest
from scipy import sparse

from stickbreak.corpus import Corpus, planted_lda
from stickbreak.exceptions import InputError
from stickbreak.path import held_out
from stickbreak.path.held_out import HeldOutTokens, hold_out


@pytest.fixture(scope="module")
def corpus():
    return planted_lda(400, 50, n_topics=5, mean_tokens=60.0, seed=0)[0]


def dense(tokens, n_words):
    found = np.zeros((tokens.n_documents, n_words))
    found[tokens.document, tokens.words[tokens.word]] = tokens.count
    return found


def test_tokens_held_out_and_the_others_are_whole_documents(corpus):
    observed, tokens = hold_out(corpus, 10, seed=1)
    whole = observed.counts.toarray() + dense(tokens, 50)
    rows = {row.tobytes() for row in corpus.counts.toarray().astype(float)}
    assert all(row.tobytes() in rows for row in whole)
    assert (tokens.by_document(tokens.count) >= 1).all()


def test_a_tenth_of_the_tokens_is_held_out(corpus):
    _, tokens = hold_out(corpus, 10, seed=1)
    assert tokens.n_tokens == pytest.approx(0.1 * corpus.n_tokens, rel=0.1)


def test_large_collections_and_many_topics_have_fewer_documents(corpus, monkeypatch):
    monkeypatch.setattr(held_out, "MOST_TOKENS", 300)
    _, tokens = hold_out(corpus, 10, seed=1)
    assert tokens.n_tokens == pytest.approx(300, rel=0.25)
    monkeypatch.setattr(held_out, "MOST_WEIGHTS", 200)
    assert hold_out(corpus, 10, seed=1)[1].n_documents <= 20


def test_same_seed_holds_the_same_tokens_out(corpus):
    first, again, other = (hold_out(corpus, 10, seed=seed)[1] for seed in (1, 1, 2))
    np.testing.assert_array_equal(dense(first, 50), dense(again, 50))
    assert first.n_tokens != other.n_tokens or (first.word[:50] != other.word[:50]).any()


def test_only_the_whole_part_of_a_weight_is_tokens():
    counts = sparse.csr_matrix(np.full((500, 3), 2.75))
    observed, tokens = hold_out(Corpus.from_counts(counts), 2, seed=0)
    assert (tokens.count == np.floor(tokens.count)).all()
    assert tokens.count.max() <= 2
    np.testing.assert_allclose(observed.counts.toarray() + dense(tokens, 3), 2.75)


def test_no_tokens_or_too_many_topics_are_refused(corpus):
    with pytest.raises(InputError, match="too few to hold some of them out"):
        hold_out(Corpus.from_counts([[0.5, 0.5]]), 2, seed=0)
    with pytest.raises(InputError, match="the model has 2001 topics, too many to join"):
        hold_out(corpus, 2001, seed=0)


def test_words_are_numbered_in_order():
    tokens = HeldOutTokens.of(sparse.csr_matrix([[0, 2.0, 0, 1.0], [1.0, 0, 0, 3.0]]))
    assert tokens.words.tolist() == [0, 1, 3]
    assert tokens.word.tolist() == [1, 2, 0, 2]
    assert (tokens.n_documents, tokens.n_tokens) == (2, 7.0)
