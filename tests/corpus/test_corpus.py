import pickle
import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from stickbreak.corpus import Corpus, GroupedVectors, align, count_texts, make_batches, stop_words_of, write_corpus
from stickbreak.corpus.csr import row_keys
from stickbreak.corpus.validation import columns_of_no_counts
from stickbreak.exceptions import InputError, InvalidCorpus

TABLE = [[2, 0, 1], [0, 0, 0], [0, 3, 0]]

counts_tables = st.tuples(st.integers(1, 8), st.integers(1, 6)).flatmap(
    lambda shape: arrays(np.int64, shape, elements=st.integers(0, 9))
)


def random_corpus(n_documents=40, n_words=30, mean=0.5, seed=0):
    rng = np.random.default_rng(seed)
    return Corpus.from_counts(rng.poisson(mean, size=(n_documents, n_words)))


@pytest.mark.parametrize(
    "make",
    [
        lambda t: t,
        np.array,
        lambda t: np.array(t, dtype=float),
        lambda t: np.array(t, dtype=object),
        lambda t: np.array(t, dtype=np.uint8),
        lambda t: sp.csr_matrix(t),
        lambda t: sp.csr_array(t),
        lambda t: sp.csc_matrix(t),
        lambda t: sp.coo_array(np.array(t)),
        lambda t: sp.lil_matrix(t),
        lambda t: pd.DataFrame(t),
    ],
)
def test_from_counts_takes_every_common_kind(make):
    corpus = Corpus.from_counts(make(TABLE))
    assert isinstance(corpus.counts, sp.csr_matrix)
    assert corpus.counts.dtype == np.int32
    assert corpus.vocabulary is None
    np.testing.assert_array_equal(corpus.counts.toarray(), TABLE)


def test_from_counts_makes_the_counts_canonical():
    X = sp.csr_matrix((np.array([1, 2, 0, 4]), np.array([2, 0, 1, 2]), np.array([0, 4])), shape=(1, 3))
    corpus = Corpus.from_counts(X)
    assert corpus.counts.indices.tolist() == [0, 2]
    assert corpus.counts.data.tolist() == [2, 5]


def test_from_counts_leaves_its_input_alone():
    X = sp.csr_matrix((np.array([1.0, 2.0, 0.0]), np.array([2, 0, 1]), np.array([0, 3])), shape=(1, 3))
    Corpus.from_counts(X)
    assert X.data.tolist() == [1.0, 2.0, 0.0]
    assert X.indices.tolist() == [2, 0, 1]


def test_from_counts_shares_the_memory_of_canonical_counts():
    X = sp.csr_matrix(np.array(TABLE, dtype=np.int32))
    assert np.shares_memory(Corpus.from_counts(X).counts.data, X.data)


def test_from_counts_returns_a_corpus_as_it_is():
    corpus = Corpus.from_counts(TABLE)
    assert Corpus.from_counts(corpus) is corpus
    assert Corpus.from_counts(corpus, vocabulary=["a", "b", "c"]).words == ("a", "b", "c")


def test_from_counts_takes_words_and_names_of_a_data_frame():
    corpus = Corpus.from_counts(pd.DataFrame([[1, 0], [0, 2]], columns=["foo", "bar"], index=["d1", "d2"]))
    assert corpus.vocabulary == ("foo", "bar")
    assert corpus.names == ("d1", "d2")


def test_fractional_counts_are_weights():
    corpus = Corpus.from_counts([[0.5, 2.0]])
    assert corpus.counts.dtype == np.float64
    assert not corpus.is_integer
    assert corpus.n_tokens == 2.5


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros((0, 3)), "no documents"),
        (np.zeros((3, 0)), "no words"),
        ([1, 2, 3], "two dimensions"),
        (np.zeros((2, 2, 2)), "two dimensions"),
        ([[1, 0], [0, -2]], "row 1, column 1 is -2"),
        ([[0.0, -0.5]], "row 0, column 1 is -0.5"),
        ([[1.0, np.nan]], "row 0, column 1 is nan"),
        ([[1.0, 0.0], [np.inf, 0.0]], "row 1, column 0 is inf"),
        ([[np.inf, -np.inf]], "row 0, column 0 is inf"),
        ([[3_000_000_000]], "above 2147483647"),
        ([[1, 2], [3]], "must be numbers"),
        ([["a", "b"]], "lists of words"),
        (["a text", "another"], "count_texts"),
        ([[1j]], "not of dtype complex"),
        (sp.csr_matrix([[1j]]), "not of dtype complex"),
        (sp.coo_array(np.ones(3)), "two dimensions"),
    ],
)
def test_from_counts_refuses_what_is_no_corpus(X, message):
    with pytest.raises(InvalidCorpus, match=re.escape(message)):
        Corpus.from_counts(X)


@pytest.mark.parametrize(
    ("vocabulary", "message"),
    [
        (["a", "b"], "has 2 words but the counts have 3 columns; give the vocabulary"),
        (["a", "b", "a"], "holds 'a' twice, for the columns 0 and 2"),
        (["a", 1, "c"], "holds 1 at position 1"),
        ("abc", "is one string"),
    ],
)
def test_from_counts_refuses_a_vocabulary_that_does_not_fit(vocabulary, message):
    with pytest.raises(InvalidCorpus, match=message):
        Corpus.from_counts(TABLE, vocabulary)


def test_from_counts_tells_when_the_counts_are_transposed():
    with pytest.raises(InvalidCorpus, match="transpose"):
        Corpus.from_counts([[1, 0, 2]], ["a"])


def test_from_counts_refuses_names_that_do_not_fit():
    with pytest.raises(InvalidCorpus, match="2 document names for 3 documents"):
        Corpus.from_counts(TABLE, names=["a", "b"])


def test_sizes_count_empty_documents_too():
    corpus = Corpus.from_counts(TABLE)
    assert (corpus.n_documents, len(corpus), corpus.n_words, corpus.n_tokens) == (3, 3, 3, 6)
    assert corpus.document_lengths.tolist() == [3, 0, 3]
    assert corpus.words == ("w0", "w1", "w2")
    assert corpus.document_names == ("0", "1", "2")


def test_totals_do_not_overflow():
    corpus = Corpus.from_counts([[2_000_000_000, 2_000_000_000]])
    assert corpus.n_tokens == 4_000_000_000
    assert corpus.document_lengths.tolist() == [4_000_000_000]


def test_corpus_survives_pickling():
    corpus = pickle.loads(pickle.dumps(Corpus.from_counts(TABLE, ["a", "b", "c"])))
    assert corpus.words == ("a", "b", "c")
    np.testing.assert_array_equal(corpus.counts.toarray(), TABLE)


@given(counts_tables, st.slices(8))
def test_slices_are_those_of_the_table(table, selection):
    names = [f"d{row}" for row in range(len(table))]
    part = Corpus.from_counts(table, names=names)[selection]
    np.testing.assert_array_equal(part.counts.toarray(), table[selection])
    assert part.names == tuple(names[selection])
    assert part.counts.shape[1] == table.shape[1]
    np.testing.assert_array_equal(part.document_lengths, table[selection].sum(axis=1))


def test_selection_by_mask_and_rows():
    corpus = Corpus.from_counts(TABLE, names=["a", "b", "c"])
    assert corpus[np.array([True, False, True])].names == ("a", "c")
    assert corpus[[2, 0, -2]].names == ("c", "a", "b")
    assert corpus[[]].n_documents == 0
    assert np.shares_memory(corpus[1:].counts.data, corpus.counts.data)


@pytest.mark.parametrize("selection", [[3], [-4], [True], [0.5], [[0, 1]], 1])
def test_selection_refuses_what_is_not_there(selection):
    with pytest.raises(InputError):
        Corpus.from_counts(TABLE)[selection]


@given(counts_tables.filter(lambda t: len(t) > 1), st.floats(0.01, 0.99), st.integers(0, 5))
def test_split_parts_the_documents(table, held_out, seed):
    names = [str(row) for row in range(len(table))]
    train, held = Corpus.from_counts(table, names=names).split(held_out, seed=seed)
    assert sorted(train.names + held.names) == names
    assert held.n_documents == min(max(round(held_out * len(table)), 1), len(table) - 1)
    np.testing.assert_array_equal(held.counts.toarray(), table[[int(name) for name in held.names]])


def test_split_depends_on_the_seed_only():
    corpus = random_corpus()
    rows = [corpus.split(seed=seed)[1].counts.toarray().tolist() for seed in (0, 0, 1)]
    assert rows[0] == rows[1] != rows[2]


def test_split_takes_a_number_of_documents():
    assert random_corpus().split(7)[1].n_documents == 7


@pytest.mark.parametrize("held_out", [0, -0.1, 40, 1.5, np.nan])
def test_split_refuses_an_empty_side(held_out):
    with pytest.raises(InputError, match="cannot hold out"):
        random_corpus().split(held_out)


@pytest.mark.parametrize("value", [2.0**31, 2.0**31 + 0.5, 1e300])
def test_fractional_weights_above_the_largest_count_are_refused(value):
    with pytest.raises(InvalidCorpus, match=r"row 1, column 0 .*above 2147483647 are not supported"):
        Corpus.from_counts([[0.5, 1.0], [value, 0.0]])


def test_counts_given_twice_do_not_wrap_around():
    most = 2**31 - 1
    twice = sp.csr_matrix((np.array([most, most], dtype=np.int32), np.array([0, 0]), np.array([0, 2])), shape=(1, 1))
    with pytest.raises(InvalidCorpus, match="4294967294; counts above"):
        Corpus.from_counts(twice)


@pytest.mark.parametrize("make", [np.asarray, pd.DataFrame])
def test_numbers_of_two_bytes_add_up_as_others_do(make):
    table = np.zeros((3, 900), "float16")
    table[0], table[1, 2], table[2, 0] = 120, 2, 1  # more than the largest number of two bytes in a row
    corpus = Corpus.from_counts(make(table))
    assert corpus.counts.dtype == np.int32
    np.testing.assert_array_equal(corpus.document_lengths, [108_000, 2, 1])


def test_copies_are_documents_of_the_same_words_as_often():
    corpus = Corpus.from_counts(
        [[1, 2, 0], [0, 1, 0], [0, 0, 0], [1, 2, 0], [2, 1, 0], [0, 0, 0], [0, 1, 0], [1, 2, 0]]
    )
    assert corpus.copy_of().tolist() == [0, 1, 2, 0, 4, 5, 1, 0]
    assert corpus.without_copies().counts.toarray().tolist() == [[1, 2, 0], [0, 1, 0], [0, 0, 0], [2, 1, 0], [0, 0, 0]]


def test_each_of_many_documents_has_a_key_of_its_own():
    counts = sp.csr_matrix(np.random.default_rng(0).poisson(0.5, (3000, 12)))
    different = np.unique(counts.toarray(), axis=0).shape[0]
    corpus = Corpus.from_counts(counts)
    assert np.unique(row_keys(corpus.counts)).size == different


def arguments():
    """Give calls that take an argument, by its name in their message."""
    corpus = random_corpus()
    vectors = GroupedVectors.from_arrays([np.ones((3, 2)), np.zeros((2, 2))])
    return [
        ("vocabulary", lambda odd: Corpus.from_counts(TABLE, vocabulary=odd)),
        ("names", lambda odd: Corpus.from_counts(TABLE, names=odd)),
        ("vocabulary", lambda odd: count_texts(["fresh bread"], vocabulary=odd)),
        ("vocabulary", lambda odd: align(corpus, odd)),
        ("hold out", corpus.split),
        ("seed", lambda odd: corpus.split(seed=odd)),
        ("seed", lambda odd: corpus.halves(seed=odd)),
        ("seed", lambda odd: vectors.halves(seed=odd)),
        ("n_batches", lambda odd: make_batches(corpus, odd)),
        ("stop_words", stop_words_of),
        ("arrays", GroupedVectors.from_arrays),
        ("write_corpus", lambda odd: write_corpus(odd, "nowhere")),
        ("write_corpus", lambda odd: write_corpus(corpus, odd)),
    ]


@pytest.mark.parametrize("odd", [7.5, float("nan"), object(), len, True], ids=lambda odd: type(odd).__name__)
def test_arguments_of_another_kind_are_refused_in_a_sentence(odd):
    for name, call in arguments():
        if (odd is True) and name in ("seed", "n_batches"):
            continue
        with pytest.raises(InputError, match=name) as caught:
            call(odd)
        assert len(str(caught.value)) < 500


def test_seed_may_be_a_number_of_numpy():
    corpus = random_corpus()
    for first, second in zip(corpus.halves(seed=np.int64(3)), corpus.halves(seed=3), strict=True):
        assert (first.counts != second.counts).nnz == 0


WORDS = np.random.default_rng(1).poisson(0.4, (40, 30))
OUTSIDE = {
    "ids": 100_000 + np.arange(40),
    "years": 1990 + np.arange(40) % 30,
    "prices": np.random.default_rng(2).gamma(3.0, 40.0, 40),
    "times": 1_600_000_000 + 86_400 * np.arange(40),
}


@pytest.mark.parametrize("kind", OUTSIDE)
def test_column_that_counts_nothing_is_found(kind):
    assert columns_of_no_counts(Corpus.from_counts(np.column_stack([WORDS, OUTSIDE[kind]])).counts) == [30]


def test_two_columns_that_count_nothing_are_found_and_frequent_words_are_not():
    both = np.column_stack([WORDS, OUTSIDE["years"], OUTSIDE["ids"]])
    assert columns_of_no_counts(Corpus.from_counts(both).counts) == [31, 30]
    often = np.column_stack([WORDS, 1 + WORDS[:, 0]])  # a word of every document
    rare = np.column_stack([WORDS, np.where(np.arange(40) < 4, 500, 0)])  # of some documents, but often
    for counts in (WORDS, often, rare, 500 * WORDS[:, :5]):
        assert columns_of_no_counts(Corpus.from_counts(counts).counts) == []
