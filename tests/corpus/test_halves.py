import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from stickbreak.corpus import Corpus, splits

tables = st.tuples(st.integers(1, 8), st.integers(1, 6)).flatmap(
    lambda shape: arrays(np.int64, shape, elements=st.integers(0, 9))
)


@given(tables, st.integers(-3, 2**70))
def test_halves_add_up_and_are_halves(table, seed):
    corpus = Corpus.from_counts(table)
    observed, held_out = corpus.halves(seed=seed)
    np.testing.assert_array_equal((observed.counts + held_out.counts).toarray(), table)
    np.testing.assert_array_equal(observed.document_lengths, (table.sum(axis=1) + 1) // 2)
    for half in (observed, held_out):
        assert half.counts.dtype == np.int32
        assert half.counts.data.min(initial=1) >= 1
        assert half.n_documents == len(table)


@given(tables.map(lambda t: t * 0.7))
def test_halves_of_weights_add_up(weights):
    observed, held_out = Corpus.from_counts(weights).halves()
    np.testing.assert_allclose((observed.counts + held_out.counts).toarray(), weights, atol=1e-12)
    whole = np.floor(weights)
    assert np.all(observed.document_lengths >= (whole.sum(axis=1) + 1) // 2)
    assert np.all(held_out.document_lengths >= whole.sum(axis=1) // 2)


def test_fractional_rest_goes_to_either_half():
    observed, held_out = Corpus.from_counts(np.full((400, 1), 0.5)).halves()
    assert 150 < observed.counts.nnz < 250
    assert observed.counts.nnz + held_out.counts.nnz == 400


def test_split_of_a_document_does_not_depend_on_the_others():
    rng = np.random.default_rng(0)
    table = rng.poisson(3, size=(6, 10))
    other = table.copy()
    other[[0, 1, 3, 5]] = rng.poisson(9, size=(4, 10))
    first, second = (Corpus.from_counts(t).halves(seed=3)[0].counts.toarray() for t in (table, other))
    np.testing.assert_array_equal(first[[2, 4]], second[[2, 4]])


def test_split_does_not_depend_on_the_chunks(monkeypatch):
    counts = Corpus.from_counts(np.random.default_rng(0).poisson(2, size=(30, 10))).counts
    whole = splits.split_halves(counts, 0)[0]
    monkeypatch.setattr(splits, "_TOKENS_AT_ONCE", 7)
    assert (whole != splits.split_halves(counts, 0)[0]).nnz == 0


def test_seed_and_document_key_the_split():
    counts = sp.csr_matrix(np.ones((2, 40), dtype=np.int32))
    observed = splits.split_halves(counts, 0)[0].toarray()
    assert not np.array_equal(observed[0], observed[1])
    assert not np.array_equal(observed, splits.split_halves(counts, 1)[0].toarray())


def test_every_token_is_equally_likely_observed():
    """Documents of the same 8 words: each is observed half the time, pairs as without replacement."""
    D, n = 4000, 8
    observed = splits.split_halves(sp.csr_matrix(np.ones((D, n), dtype=np.int32)), 11)[0].toarray()
    error = 4.5 * np.sqrt(0.25 / D)  # false alarm below 1e-4 over the 8 words
    np.testing.assert_allclose(observed.mean(axis=0), 0.5, atol=error)
    pairs = (observed.T @ observed) / D
    expected = 0.5 * (n / 2 - 1) / (n - 1)
    np.testing.assert_allclose(pairs[~np.eye(n, dtype=bool)], expected, atol=error)


def test_halves_of_huge_counts_are_exact_halves():
    most = 2**31 - 1
    counts = np.array([[most, most, most, 1], [3, 0, 1, 2], [most, 0, 5, 0], [0, 0, 0, 0]])
    observed, held_out = Corpus.from_counts(counts).halves(seed=5)
    np.testing.assert_array_equal((observed.counts + held_out.counts).toarray(), counts)
    np.testing.assert_array_equal(observed.document_lengths, (counts.sum(axis=1) + 1) // 2)
    spread = np.abs(observed.counts.toarray()[0, :3] - most / 2)
    assert spread.max() < 6 * np.sqrt(most / 4)
    assert spread.min() > 0
    small = Corpus.from_counts(counts[:2] * [[0], [1]]).halves(seed=5)[0]
    np.testing.assert_array_equal(small.counts.toarray()[1], observed.counts.toarray()[1])


def test_halves_of_huge_weights_add_up():
    weights = np.array([[2e9 + 0.5, 0.25, 1.5]])
    observed, held_out = Corpus.from_counts(weights).halves()
    np.testing.assert_array_equal((observed.counts + held_out.counts).toarray(), weights)
    assert abs(observed.n_tokens - held_out.n_tokens) < 3


@given(tables, st.integers(-3, 2**70))
def test_halves_of_unlisted_documents_add_up_and_are_halves(table, seed):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(splits, "_LONGEST_LISTED", 3)
        observed, held_out = Corpus.from_counts(table).halves(seed=seed)
    np.testing.assert_array_equal((observed.counts + held_out.counts).toarray(), table)
    np.testing.assert_array_equal(observed.document_lengths, (table.sum(axis=1) + 1) // 2)
    assert min(observed.counts.data.min(initial=1), held_out.counts.data.min(initial=1)) >= 1


def test_unlisted_documents_are_split_by_the_hypergeometric_law():
    """The half of a document (5, 3, 1) without listing its tokens, against scipy's law of four outcomes and more."""
    from scipy.stats import multivariate_hypergeom

    tokens, D = np.array([5, 3, 1]), 20_000
    drawn = np.array([splits._half_of_many(tokens, 7, d) for d in range(D)])
    outcomes, times = np.unique(drawn, axis=0, return_counts=True)
    law = multivariate_hypergeom.pmf(outcomes, m=tokens, n=5)
    assert law.sum() == pytest.approx(1.0)
    assert np.all(np.abs(times / D - law) < 4.5 * np.sqrt(law * (1 - law) / D))


def test_split_of_an_unlisted_document_is_keyed_by_seed_and_row_alone(monkeypatch):
    monkeypatch.setattr(splits, "_LONGEST_LISTED", 100)
    table = np.full((4, 6), 40)
    other = table.copy()
    other[[0, 3]] = 1
    first, second = (Corpus.from_counts(t).halves(seed=3)[0].counts.toarray() for t in (table, other))
    np.testing.assert_array_equal(first[1:3], second[1:3])
    assert not np.array_equal(first[1], first[2])
    assert not np.array_equal(first, Corpus.from_counts(table).halves(seed=4)[0].counts.toarray())
    monkeypatch.setattr(splits, "_TOKENS_AT_ONCE", 7)
    np.testing.assert_array_equal(first, Corpus.from_counts(table).halves(seed=3)[0].counts.toarray())


def test_halves_do_not_share_memory_with_the_corpus():
    corpus = Corpus.from_counts([[1, 2, 3]])
    before = corpus.counts.copy()
    for half in corpus.halves():
        half.counts.data[:] = 9
        half.counts.indices[:] = 0
    assert (before != corpus.counts).nnz == 0


def test_empty_corpus_part_has_empty_halves():
    observed, held_out = Corpus.from_counts([[1]])[[]].halves()
    assert observed.n_documents == held_out.n_documents == 0


@pytest.mark.parametrize("table", [[[0, 0]], [[0, 0], [1, 0], [0, 0]]])
def test_empty_documents_are_kept(table):
    assert Corpus.from_counts(table).halves()[1].n_documents == len(table)
