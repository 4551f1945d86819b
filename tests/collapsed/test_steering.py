"""What is known before a fit: pseudo-counts, topics that are kept, labels of documents (math.md (C18), (C19))."""

import numpy as np
import pytest
from scipy import sparse

from stickbreak.collapsed.cvb0 import ALONE, SMALLEST_SHARE, add_up, given_start, sweep, with_random_topics
from stickbreak.collapsed.kernels.labelled import label_prior
from stickbreak.collapsed.memory import InMemory
from stickbreak.collapsed.merging import compact
from stickbreak.collapsed.splitting import divide, settled, split
from stickbreak.collapsed.state import Priors
from stickbreak.collapsed.steering import Steering, seeded
from stickbreak.model.document_labels import LABELLED, DocumentLabels
from stickbreak.numerics.keys import key_of

from . import reference
from .problems import dense, dense_r, hold_back, small_corpus, turns_of

PRIORS = Priors(alpha=0.5, gamma=3.0, eta=0.2)
ROWS = [[k] if d % 4 == 0 else [0, 1] if d % 4 == 1 else [] if d % 4 == 2 else [2] for d, k in enumerate([0, 1] * 12)][
    :23
]


def steering(*, labels: bool = True) -> Steering:
    """Two or three labels, the first with seeds, and another seed."""
    of_documents = DocumentLabels.of(ROWS, 3) if labels else None
    return seeded([[1, 2], [], [], [4, 5, 6]], 8, 3.0, of_documents)


def weights_of_documents(beta: np.ndarray) -> np.ndarray:
    """(C19), written another way."""
    found = np.tile(beta, (len(ROWS), 1))
    for d, row in enumerate(ROWS):
        if row:
            found[d, :3] = 0.0
            found[d, row] = LABELLED / len(row)
            found[d, 3:] = (1 - LABELLED) * beta[3:] / (1 - beta[:3].sum())
    return found


def known_counts(n_topics: int) -> np.ndarray:
    """Three pseudo-tokens for each seed."""
    S = np.zeros((8, n_topics))
    S[[1, 2], 0], S[[4, 5, 6], 3] = 1.5, 1.0
    return S


@pytest.mark.parametrize("labels", [False, True], ids=["seeds", "seeds and labels"])
@pytest.mark.parametrize("smallest", [0.0, SMALLEST_SHARE])
def test_sweep_of_a_steered_fit_equals_its_twin(smallest, labels):
    corpus, own = small_corpus(1), steering(labels=labels)
    counts, state = dense(corpus), with_random_topics(InMemory(corpus), 6, 5, ALONE, own)
    sweep(state, PRIORS, smallest, 5, ALONE)  # after which every count has shares
    for lap in range(2, 5):
        r, beta = dense_r(corpus, state), state.beta.copy()
        settings = {"alpha": PRIORS.alpha, "eta": PRIORS.eta, "turns": turns_of(state), "smallest": smallest}
        of_documents = weights_of_documents(beta) if labels else None
        told = {"known": known_counts(6), "of_documents": of_documents}
        log_p = reference.sweep(counts, r, beta, **settings, key=key_of(5, lap, "collapsed sweep"), **told)
        sweep(state, PRIORS, smallest, 5, ALONE)
        np.testing.assert_allclose(dense_r(corpus, state), r, rtol=0, atol=2e-5)
        assert state.log_p == pytest.approx(log_p, rel=1e-6)
        np.testing.assert_array_equal(state.N, state.S.sum(axis=0))


def test_prior_of_a_document_with_labels_sums_to_alpha():
    beta, own = np.array([0.1, 0.2, 0.1, 0.15, 0.25, 0.1]), np.empty(6)
    rest = label_prior(0.5 * beta, 0.5, np.array([1, 2], np.int32), 3, LABELLED, own)
    np.testing.assert_allclose(
        own, 0.5 * weights_of_documents(beta)[ROWS.index([0, 1])][[2, 0, 1, 3, 4, 5]], atol=1e-12
    )
    assert own.sum() + rest == pytest.approx(0.5)


def allowed(state) -> bool:
    """Whether no document has a share of a label that it lacks."""
    for shard in state.documents.shards:
        for d in range(shard.indptr.size - 1):
            span = slice(shard.shares.start[shard.indptr[d]], shard.shares.start[shard.indptr[d + 1]])
            row, own = ROWS[shard.first + d], set(shard.shares.topic[span].tolist())
            if row and own & {0, 1, 2} - set(row):
                return False
    return True


def test_documents_use_only_topics_of_their_labels_from_the_start_on():
    corpus, own = small_corpus(2), steering()
    state = with_random_topics(InMemory(corpus), 6, 0, ALONE, own)
    other = given_start(InMemory(corpus), np.ones((6, 8)), 0.0, 0, ALONE, own)
    for one in (state, other):
        assert allowed(one)
        for _ in range(3):
            sweep(one, PRIORS, SMALLEST_SHARE, 0, ALONE)
        assert allowed(one)
    hold_back(state, 0.3, 0)
    add_up(state, ALONE)
    split(state, PRIORS, 20, 0, ALONE)
    sweep(state, PRIORS, SMALLEST_SHARE, 0, ALONE)
    assert allowed(state)


def test_words_of_a_seed_start_in_its_topic():
    corpus, own = small_corpus(3), steering(labels=False)
    r = dense_r(corpus, with_random_topics(InMemory(corpus), 6, 0, ALONE, own))
    there = dense(corpus) > 0
    np.testing.assert_array_equal(r[:, [4, 5, 6], 3][there[:, [4, 5, 6]]], 1.0)
    np.testing.assert_array_equal(r[:, [1, 2], 0][there[:, [1, 2]]], 1.0)
    assert (r[:, [0, 7]][there[:, [0, 7]]][:, 4:].sum(axis=1) > 0).all()  # other words also have a free topic


def test_pairs_keep_the_topic_with_a_number_and_leave_labels_alone():
    own = Steering(n_kept=4, n_whole=4, n_labels=2)
    pairs = np.array([[0, 1], [5, 0], [2, 3], [5, 3], [3, 6], [6, 5]])
    assert own.mergeable(pairs).tolist() == [[3, 5], [3, 6], [6, 5]]
    assert Steering().mergeable(pairs) is pairs


def test_topics_that_are_kept_stay_where_they_are_without_tokens():
    corpus = small_corpus(1)
    own = seeded([[3], [1, 2]], 8, 2.0)  # word 3 never occurs
    state = with_random_topics(InMemory(corpus), 4, 0, ALONE, own)
    add_up(state, ALONE)
    compact(state, ALONE)
    add_up(state, ALONE)
    assert state.S[3, 0] == 2.0
    assert state.shown()[:2].tolist() == [0, 1]


def test_split_of_a_topic_leaves_what_is_known_with_its_first_half():
    corpus, past = small_corpus(4, n_documents=60), np.zeros((8, 1))
    past[:, 0] = [0, 0, 50, 0, 0, 0, 0, 25]
    own = Steering(n_kept=1, past=past, tables=np.array([7.0]), opened=2.0)
    state = given_start(InMemory(corpus), past.T + 1.0, 0.0, 0, ALONE, own)
    sweep(state, PRIORS, SMALLEST_SHARE, 0, ALONE)
    assert state.tables[0] > 7.0
    hold_back(state, 0.2, 0)
    add_up(state, ALONE)
    halves = settled(state, PRIORS, 0, ALONE)
    assert (halves.S[:, 0] >= past[:, 0]).all()
    n_before = state.N.sum()
    divide(state, halves, np.array([0]), ALONE)
    assert state.N.sum() == n_before
    assert (state.S[:, 0] >= past[:, 0]).all()
    of_documents = dense_r(corpus, state)[:, :, 1]
    held = np.concatenate([shard.count for shard in state.documents.shards])
    assert state.N[1] == pytest.approx((held * of_documents[dense(corpus) > 0]).sum(), abs=1e-3)


def test_topics_of_seeds_are_not_split():
    corpus = small_corpus(4, n_documents=60)
    state = with_random_topics(InMemory(corpus), 2, 0, ALONE, seeded([[1, 2]], 8, 1.0))
    state.steering = Steering(2, 2, pseudo=sparse.csr_array((8, 2)))
    hold_back(state, 0.3, 0)
    sweep(state, PRIORS, SMALLEST_SHARE, 0, ALONE)
    add_up(state, ALONE)
    assert split(state, PRIORS, 20, 0, ALONE)[1] == 0


def test_labels_of_some_documents_are_theirs():
    labels = DocumentLabels.of(ROWS, 3)
    some = labels.sample(np.array([1, 4, 6, 7]))
    assert [some.topic[a:b].tolist() for a, b in zip(some.start, some.start[1:], strict=False)] == [
        ROWS[d] for d in (1, 4, 6, 7)
    ]
    found, labelled = labels.weights(4, 4)
    assert [np.flatnonzero(row).tolist() for row in found] == [sorted(row) for row in ROWS[4:8]]
    assert labelled.tolist() == [bool(row) for row in ROWS[4:8]]


@pytest.mark.parametrize("wrong", ["start", "topic", "order"])
def test_damaged_labels_are_refused(wrong):
    labels = DocumentLabels.of(ROWS, 3)
    start, topic = labels.start.copy(), labels.topic.copy()
    if wrong == "start":
        start = start[:-1]
    elif wrong == "topic":
        topic[2] = 3
    else:
        start[3] = start[-1] + 1
    with pytest.raises(ValueError, match="labels"):
        DocumentLabels.restored(start, topic, 3, len(ROWS))
