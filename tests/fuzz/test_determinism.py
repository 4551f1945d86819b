"""A quick share of `python -m fuzz determinism`: what tests/contract does not hold for all estimators and forms.

The contract has threads, pickles, saved models and the usual kinds of counts of four estimators; the tree has threads.
"""

import os
from functools import cache

import numpy as np
import pytest
from fuzz.forms import of_counts, state_of
from fuzz.models import FITS
from threadpoolctl import threadpool_limits

import stickbreak
from fuzz import determinism
from stickbreak.corpus import Corpus, GroupedVectors

NAMES = list(FITS)


@cache
def trial(name, seed):
    """The documents and the fit of a name: one for all tests."""
    return determinism.Trial(name, seed, determinism.LARGE_LAPS)


def assert_equal(outcomes):
    assert [outcome for outcome in outcomes if outcome[1]] == []


@pytest.mark.parametrize("kind", list(of_counts(np.eye(2, dtype=int))))
def test_form_of_counts_changes_nothing_at_the_door(kind, seed):
    counts = trial("topics", seed).counts
    expected, form = Corpus.from_counts(counts).counts, of_counts(counts)[kind]
    found = (form if isinstance(form, Corpus) else Corpus.from_counts(form)).counts
    for name in ("data", "indices", "indptr"):
        left, right = getattr(found, name), getattr(expected, name)
        assert (left.dtype, left.tobytes()) == (right.dtype, right.tobytes())


@pytest.mark.parametrize("name", NAMES)
def test_form_of_the_documents_changes_no_bit_and_no_form(name, seed):
    """A share of the forms for each fit: those of words have all forms of counts together."""
    share = slice(NAMES.index(name), None, len(NAMES) - 2) if FITS[name].data == "words" else slice(1, None, 5)
    assert_equal(determinism.forms(trial(name, seed), share))


@pytest.mark.parametrize("name", NAMES)
def test_order_of_the_documents_changes_no_weight(name, seed):
    assert_equal(determinism.orders(trial(name, seed)))


@pytest.mark.parametrize("name", NAMES)
def test_copies_are_the_model(name, seed):
    assert_equal(determinism.copies(trial(name, seed)))


@pytest.mark.parametrize("name", [name for name in NAMES if FITS[name].data != "words"])  # others: their own tests
def test_number_of_threads_changes_no_bit(name, seed):
    assert_equal(determinism.threads(trial(name, seed), (1, 4)))


@pytest.fixture(scope="module")
def digests():
    """The digests of all fits, each after those before it."""
    return determinism.digests(NAMES, int(os.environ.get("STICKBREAK_TEST_SEED", "0")))


def test_fits_before_change_no_bit(seed, digests):
    """Each estimator after all others: in this order, and in the other one."""
    assert determinism.digests(NAMES[::-1], seed) == digests


def test_hash_seed_and_process_change_no_bit(seed, digests, monkeypatch):
    """One other process: the hash seed of this one is another."""
    monkeypatch.setattr(determinism, "digests", lambda *_: digests)  # of this process
    other = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    for outcomes in determinism.processes(NAMES, seed, [other]).values():
        assert_equal(outcomes)


def test_forms_are_as_they_are_called():
    """A form that is not what its name says would try nothing."""
    counts = np.random.default_rng(0).poisson(0.8, (9, 11))
    counts[2], counts[:, 3] = 0, 0
    forms = of_counts(counts)
    assert not forms["csr unsorted"].has_sorted_indices
    assert not forms["csr duplicates"].has_canonical_format
    assert len(forms["csr duplicates"].data) > np.count_nonzero(counts)
    assert (forms["csr explicit zeros"].data == 0).any()
    assert (forms["coo explicit zeros"].data == 0).any()
    assert forms["csr 64-bit indices"].indices.dtype == np.int64
    assert forms["dense Fortran"].flags.f_contiguous
    assert not forms["csr read-only"].data.flags.writeable
    for name, form in forms.items():
        dense = form.counts.toarray() if name.startswith("Corpus") else getattr(form, "toarray", lambda f=form: f)()
        np.testing.assert_array_equal(np.asarray(dense).astype(np.int64), counts, err_msg=name)


def test_altered_form_is_noticed():
    form = of_counts(np.array([[1, 0, 2], [3, 4, 0]]))["csr unsorted"]
    before = state_of(form)
    assert state_of(form) == before
    form.sort_indices()
    assert state_of(form) != before


@pytest.fixture
def blas_threads():
    """Give BLAS several threads, which cut a matrix product by its size."""
    with threadpool_limits(4, user_api="blas"):
        yield


@pytest.mark.usefixtures("blas_threads")
@pytest.mark.parametrize("likelihood", ["zero_mean", "full", "diagonal"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_vector_alone_is_told_what_it_is_told_among_others(likelihood, dtype):
    """Matrix products of other sizes round otherwise, most of all where vectors are long or components few."""
    rng = np.random.default_rng(0)
    X = (rng.standard_normal((1100, 31)) + 3 * rng.integers(0, 3, (1100, 1))).astype(dtype)
    order = rng.permutation(len(X))
    for n_components in (1, 4):
        parameters = {"n_components": n_components, "n_laps": 1, "likelihood": likelihood, "random_state": 0}
        mixture = stickbreak.GaussianDPMixture(**parameters).fit(X)
        found = mixture.score_samples(X)
        np.testing.assert_array_equal(mixture.score_samples(X[order]), found[order])
        groups = GroupedVectors.from_values(X, np.arange(len(X) + 1))
        hdp = stickbreak.GaussianHDP(**parameters).fit(groups)
        weights = hdp.transform(groups)
        np.testing.assert_array_equal(hdp.transform(groups[order]), weights[order])
        for n in (0, 700, 1099):
            np.testing.assert_array_equal(mixture.score_samples(X[n : n + 1]), found[n : n + 1])
            np.testing.assert_array_equal(hdp.transform(groups[n : n + 1]), weights[n : n + 1])
