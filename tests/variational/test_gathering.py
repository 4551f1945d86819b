"""Gathered documents: their responsibilities and statistics, and how they follow other moves."""

import numpy as np
import pytest
from scipy.special import gammaln, psi

from stickbreak.fitting.executor import ThreadExecutor
from stickbreak.variational.documents import DocumentTopics
from stickbreak.variational.local_step import DirichletPrior, summarise
from stickbreak.variational.model import Gathering, Piece, untouched
from stickbreak.variational.moves.delete import joined_summary
from stickbreak.variational.state import GlobalParameters
from stickbreak.variational.words import Batch

from . import reference
from .problems import (
    assert_summary_equal,
    batch_of,
    documents_of_visit,
    ragged_corpus,
    random_parameters,
    responsibilities,
    thetas,
)
from .test_local_step import compressed, visit_of

N_TOPICS = 5


def summary_of(piece):
    """Its statistics over the words of its batch."""
    return joined_summary([piece], piece.counts)


def visited(seed=1, *, fractional=True):
    """A visit of documents of which some, and some topics of each, hold nothing."""
    corpus = ragged_corpus(seed, n_documents=16, fractional=fractional)
    parameters = random_parameters(corpus.n_words, N_TOPICS, seed, eta=1e-3, concentration=0.2)
    return corpus, visit_of(corpus, parameters)


def piece_of(result, rows):
    return Piece.from_result(7, result, rows, rows, result.batch.selected(rows))


def shares(piece):
    """C r of every document of a piece, (U_d, K) each."""
    out = []
    for d in range(piece.n_documents):
        topics = piece.documents.topic[piece.documents.indptr[d] : piece.documents.indptr[d + 1]]
        n_types = int(np.diff(piece.counts.indptr)[d])
        dense = np.zeros((n_types, piece.prior.values.size - 1))
        dense[:, topics] = piece.share[piece.share_ptr[d] : piece.share_ptr[d + 1]].reshape(n_types, topics.size)
        out.append(dense)
    return out


def twin_of(result, rows, n_words, change=lambda r, theta: (r, theta)):
    docs, r = documents_of_visit(result), responsibilities(result)
    picked, theta = [docs[d] for d in rows], thetas(result)[rows]
    new_r, new_theta = change([r[d] for d in rows], theta)
    return reference.statistics(picked, new_r, new_theta, n_words)


ROWS = np.array([1, 2, 5, 9, 14])


def test_piece_holds_the_responsibilities_of_the_visit():
    _, result = visited()
    piece = piece_of(result, ROWS)
    r, docs = responsibilities(result), documents_of_visit(result)
    for i, d in enumerate(ROWS):
        np.testing.assert_allclose(shares(piece)[i], docs[d][1][:, None] * r[d], rtol=1e-13)
    np.testing.assert_array_equal(piece.documents.dense(N_TOPICS), result.documents.dense(N_TOPICS)[ROWS])


@pytest.mark.parametrize("rows", [ROWS, np.arange(16), np.array([0, 8, 15])], ids=["some", "all", "empty ones"])
def test_piece_summary_equals_the_twin(rows):
    corpus, result = visited()
    assert_summary_equal(summary_of(piece_of(result, rows)), twin_of(result, rows, corpus.n_words), rtol=1e-11)


def test_summary_of_the_whole_batch_is_the_one_that_is_stored():
    _, result = visited()
    found, want = summary_of(piece_of(result, np.arange(16))), summarise(result, ThreadExecutor())
    assert found.n_documents == want.n_documents
    for name in ("S", "N", "H", "T", "G", "Q", "Q0", "words"):
        np.testing.assert_allclose(getattr(found, name), getattr(want, name), rtol=1e-11, atol=1e-11, err_msg=name)


def test_selected_documents_of_a_piece_are_those_documents():
    _, result = visited()
    piece = piece_of(result, np.arange(16)).selected(ROWS)
    direct = piece_of(result, ROWS)
    np.testing.assert_array_equal(piece.rows, ROWS)
    for name in ("share_ptr", "share"):
        np.testing.assert_array_equal(getattr(piece, name), getattr(direct, name))
    np.testing.assert_array_equal(piece.counts.count, direct.counts.count)
    np.testing.assert_array_equal(piece.documents.n_dk, direct.documents.n_dk)


@pytest.mark.parametrize("new_index", [[0, 1, 1, 2, 3], [3, 2, 0, 2, 1], [1, 0, 1, 0, 1], [4, 0, 2, 1, 3]], ids=str)
def test_relabelled_piece_is_pooled_as_the_twin_says(new_index):
    corpus, result = visited()
    new_index = np.array(new_index)
    to = np.zeros((N_TOPICS, new_index.max() + 1))
    to[np.arange(N_TOPICS), new_index] = 1.0
    piece = piece_of(result, ROWS).relabelled(new_index)

    def pool(r, theta):
        return [x @ to for x in r], np.concatenate([theta[:, :-1] @ to, theta[:, -1:]], axis=1)

    assert_summary_equal(summary_of(piece), twin_of(result, ROWS, corpus.n_words, pool), rtol=1e-11)
    np.testing.assert_allclose(piece.prior.values.sum(), result.prior.values.sum())


def test_relabelled_piece_may_lose_a_topic_that_none_holds():
    corpus, result = visited()
    held = result.documents.dense(N_TOPICS) > 0
    topic = int(np.argmin(held.sum(axis=0)))
    rows = np.flatnonzero(~held[:, topic])
    assert rows.size > 4
    new_index = np.insert(np.arange(N_TOPICS - 1), topic, -1)
    piece = piece_of(result, rows).relabelled(new_index)
    twin = twin_of(result, rows, corpus.n_words, lambda r, theta: reference.without_topic(r, theta, topic))
    assert_summary_equal(summary_of(piece), twin, rtol=1e-11)


@pytest.mark.parametrize(
    ("new_index", "want"),
    [([0, 1, 2], [1, 2, 4, 8]), ([1, 0, 1], [2, 5, 8]), ([0, -1, 1], [1, 4, 8]), ([0, 0, 0], [7, 8])],
    ids=str,
)
def test_relabelled_prior_pools_and_drops(new_index, want):
    prior = DirichletPrior(np.array([1.0, 2.0, 4.0, 8.0]))
    np.testing.assert_array_equal(prior.relabelled(np.array(new_index)).values, want)


def test_gathering_holds_every_document_once():
    _, result = visited()
    for rows in (ROWS, np.zeros(0, np.int64), np.arange(16)):
        gathering = Gathering()
        gathering.add(3, result, rows)
        (others,) = gathering.others
        assert sum(piece.n_documents for piece in gathering.pieces) == rows.size
        np.testing.assert_array_equal(others.lengths, np.delete(result.batch.lengths, rows))
        for topic in range(N_TOPICS):
            held, rest = gathering.split(topic)
            assert gathering.n_holding(topic) == sum(piece.n_documents for piece in held)
            dense = result.documents.dense(N_TOPICS)[rows]
            assert sum(piece.n_documents for piece in held) == (dense[:, topic] > 0).sum()
            assert all(piece.holds(topic).all() for piece in held)
            assert sum(group.lengths.size for group in rest) + sum(p.n_documents for p in held) == 16


def test_exchange_puts_new_documents_in_the_place_of_old_ones():
    """The target leaves, also in part of a piece; the others lose the topic; what was never gathered stays so."""
    _, result = visited()
    gathering = Gathering()
    gathering.add(7, result, np.arange(16))
    topic = 0
    held, rest = gathering.split(topic)
    new_index = np.insert(np.arange(N_TOPICS - 1), topic, -1)
    new = [piece_of(result, held[0].rows)]
    gathering.exchange(held, new, new_index)
    assert gathering.changed
    rows = np.concatenate([piece.rows for piece in gathering.pieces])
    np.testing.assert_array_equal(np.sort(rows), np.arange(16))
    assert gathering.pieces[-1] is new[0]
    assert all(piece.prior.values.size == N_TOPICS for piece in gathering.pieces[:-1])
    assert all(group.prior.values.size == N_TOPICS for group in gathering.others)
    assert len(rest) == 2


def test_exchange_tells_documents_of_different_batches_apart():
    _, result = visited()
    gathering = Gathering()
    gathering.add(0, result, ROWS)
    gathering.add(1, result, ROWS)
    first = gathering.pieces[0]
    gathering.exchange([first.selected(np.array([0, 3]))], [], np.arange(N_TOPICS))
    assert [(piece.batch, piece.rows.tolist()) for piece in gathering.pieces] == [(0, [2, 5, 14]), (1, ROWS.tolist())]


def test_dropped_theta_raises_the_others_as_the_twin_says():
    corpus, result = visited()
    held = result.documents.dense(N_TOPICS) > 0
    topic = int(np.argmin(held.sum(axis=0)))
    rows = np.flatnonzero(~held[:, topic])
    groups = [untouched(piece_of(result, part)) for part in (rows[:3], rows[3:])]
    dropped = [group.prior.dropped(topic, group.lengths) for group in groups]
    rise, Q0 = np.array([change.T for change in dropped]), sum(change.Q0 for change in dropped)
    theta = thetas(result)[rows]
    before, after = theta.sum(axis=1), np.delete(theta, topic, axis=1).sum(axis=1)
    each = psi(before) - psi(after)
    np.testing.assert_allclose(rise, [each[:3].sum(), each[3:].sum()], rtol=1e-9)
    np.testing.assert_allclose(Q0, (gammaln(after) - gammaln(before)).sum(), rtol=1e-9)
    assert (rise > 0).all()
    assert corpus.n_documents == 16


def random_topics(rng, n_documents, n_topics=4):
    return compressed(rng.gamma(0.5, 2.0, size=(n_documents, n_topics)) * (rng.random((n_documents, n_topics)) < 0.5))


@pytest.mark.parametrize("seed", range(4))
def test_document_topics_select_replace_and_join(seed):
    rng = np.random.default_rng(seed)
    docs, other = random_topics(rng, 9), random_topics(rng, 3)
    dense = docs.dense(4)
    rows = rng.permutation(9)[:3]
    np.testing.assert_array_equal(docs.selected(rows).dense(4), dense[rows])
    want = dense.copy()
    want[rows] = other.dense(4)
    np.testing.assert_array_equal(docs.replaced(rows, other).dense(4), want)
    none = np.zeros(0, np.int64)
    np.testing.assert_array_equal(docs.replaced(none, DocumentTopics.empty(0)).dense(4), dense)
    assert docs.selected(none).n_documents == 0
    want[rows] = 0
    np.testing.assert_array_equal(docs.replaced(rows, DocumentTopics.empty(3)).dense(4), want)
    joined = DocumentTopics.joined([docs, DocumentTopics.empty(2), other])
    np.testing.assert_array_equal(joined.dense(4), np.concatenate([dense, np.zeros((2, 4)), other.dense(4)]))
    assert joined.topic.dtype == np.int32
    assert joined.indptr.dtype == np.int64
    assert DocumentTopics.joined([]).n_documents == 0


def counts_of(batch, n_words):
    dense = np.zeros((batch.n_documents, n_words))
    dense[np.repeat(np.arange(batch.n_documents), np.diff(batch.indptr)), batch.words[batch.word]] = batch.count
    return dense


def test_batches_select_and_join_documents():
    one, other = batch_of(ragged_corpus(1)), batch_of(ragged_corpus(2, n_words=9))
    rows = np.array([10, 1, 6])
    part = one.selected(rows)
    np.testing.assert_array_equal(counts_of(part, 15), counts_of(one, 15)[rows])
    np.testing.assert_array_equal(part.words, one.words)
    joined = Batch.joined([part, other])
    np.testing.assert_array_equal(counts_of(joined, 15), np.concatenate([counts_of(part, 15), counts_of(other, 15)]))
    np.testing.assert_array_equal(joined.lengths, counts_of(joined, 15).sum(axis=1))
    np.testing.assert_array_equal(joined.words, np.flatnonzero(counts_of(joined, 15).sum(axis=0)))


def test_start_is_kept_where_it_explains_all_words():
    batch = batch_of(ragged_corpus(1))
    parameters = random_parameters(15, 4, 0, eta=1e-3, concentration=0.05)
    start = random_topics(np.random.default_rng(2), batch.n_documents)
    tau = parameters.tau[batch.words]
    own = GlobalParameters(tau, parameters.tau_sum, parameters.rho, parameters.omega)
    found, kept = batch.reopened(start, own).dense(4), 0
    for d, row in enumerate(start.dense(4)):
        words = batch.word[batch.indptr[d] : batch.indptr[d + 1]]
        able = all((tau[w, row > 0] >= 1 / 300).any() for w in words)
        np.testing.assert_array_equal(found[d], row if able else 0.0)
        kept += able and words.size > 0
    assert 0 < kept < batch.n_documents - 4
