"""What every estimator does with any collection."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from stickbreak.corpus import Corpus, planted_lda
from stickbreak.exceptions import InvalidCorpus


def size_of(folder) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def as_table(corpus: Corpus) -> pd.DataFrame:
    return pd.DataFrame(corpus.counts.toarray(), columns=corpus.vocabulary)


def test_same_seed_gives_the_same_result(entry, corpus, assert_same_fit):
    assert_same_fit(entry.make().fit(corpus), entry.make().fit(corpus))


def test_other_seed_gives_another_result(entry, corpus):
    left, right = entry.make(random_state=0).fit(corpus), entry.make(random_state=1).fit(corpus)
    assert not np.array_equal(left.components_, right.components_)


def test_global_random_state_is_neither_read_nor_moved(entry, corpus, assert_same_fit):
    before = copy.deepcopy(np.random.get_state())  # noqa: NPY002
    left = entry.make().fit(corpus)
    after = np.random.get_state()  # noqa: NPY002
    assert all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))
    state = np.random.RandomState(3).get_state()
    np.random.set_state(state)  # noqa: NPY002
    try:
        assert_same_fit(left, entry.make().fit(corpus))
    finally:
        np.random.set_state(before)  # noqa: NPY002


def test_all_kinds_of_counts_give_the_same_result(model, model_of_kind, corpus, as_kind):
    assert np.array_equal(model_of_kind.components_, model.components_)
    assert np.array_equal(model_of_kind.transform(as_kind(corpus)), model.transform(corpus))
    assert model_of_kind.score(as_kind(corpus)) == model.score(corpus)


def test_empty_document_is_kept_and_has_the_weights_of_the_corpus(entry, model, corpus):
    weights = model.transform(corpus)
    assert weights.shape[0] == corpus.n_documents
    prior = model.topic_weights_ / model.topic_weights_.sum()
    np.testing.assert_allclose(weights[11], prior, rtol=1e-10)
    assert not np.allclose(weights[0], prior)


def test_fractional_weights_are_accepted_where_the_family_takes_them(entry, corpus):
    counts = corpus.counts.astype(np.float64)
    counts.data *= 0.75
    if not entry.takes_weights:
        counts.data = corpus.counts.data.astype(np.float64)
        counts.data[counts.indptr[37]] += 0.25  # minibatches and blocks number their rows anew
        with pytest.raises(InvalidCorpus, match=r"row 37 of the counts holds \d+\.25, .*; give whole numbers"):
            entry.make().fit(counts)
        return
    model = entry.make().fit(counts)
    np.testing.assert_allclose(model.transform(counts).sum(axis=1), 1)
    assert np.isfinite(model.trace_["objective"]).all()
    assert not np.array_equal(model.components_, entry.make().fit(corpus).components_)


def test_number_of_threads_changes_no_bit(entry, seed, assert_same_fit):
    large, _ = planted_lda(1000, 300, n_topics=8, mean_tokens=200, seed=seed)
    assert large.counts.nnz > 40_000, "too small to be cut into several shards"
    one = entry.make(n_topics=12, n_jobs=1).fit(large)
    many = entry.make(n_topics=12, n_jobs=4).fit(large)
    assert_same_fit(one, many)
    np.testing.assert_array_equal(one.transform(large), many.transform(large))
    assert one.score(large) == many.score(large)


def test_refit_forgets_the_first_fit(entry, corpus, seed, assert_same_fit):
    other, _ = planted_lda(20, 17, n_topics=3, mean_tokens=25, seed=seed + 1)
    refitted = entry.make().fit(as_table(corpus)).fit(other)
    assert_same_fit(refitted, entry.make().fit(other))
    refitted.fit(corpus)
    assert_same_fit(refitted, entry.make().fit(corpus))


def test_state_is_no_larger_after_ten_times_the_documents(entry, corpus, tmp_path):
    few = corpus
    many = Corpus.from_counts(sparse.vstack([corpus.counts] * 10), vocabulary=corpus.vocabulary)
    sizes = {}
    for name, documents in (("few", few), ("many", many)):
        model = entry.make(**entry.fixed_topics).fit(documents)
        model.forget_state()
        model.save(tmp_path / name)
        sizes[name] = size_of(tmp_path / name), len(pickle.dumps(model)), model.n_topics_
    assert sizes["few"][2] == sizes["many"][2]
    assert sizes["many"][0] <= sizes["few"][0] + 64  # the digits of a number or two
    assert sizes["many"][1] <= sizes["few"][1] + 64


def test_trace_that_was_handed_out_and_copies_of_the_model_are_their_own(entry, model, corpus):
    handed, twin = model.trace_, copy.deepcopy(model)
    rows = len(handed["lap"])
    objective = handed["objective"].copy()
    handed["objective"][:] = 0.0
    handed.clear()
    np.testing.assert_array_equal(model.trace_["objective"], objective)
    if hasattr(model, "partial_fit"):
        model.partial_fit(corpus)
        assert len(model.trace_["lap"]) == rows + 1
    assert len(twin.trace_["lap"]) == rows
    with pytest.raises(AttributeError):
        model.trace_ = {}
