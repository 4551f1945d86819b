"""Forward, backward and paths beside all paths and a slow twin; entropies of pooled states."""

import numpy as np
import pytest

from stickbreak.fitting.engine import Engine
from stickbreak.likelihoods import DirichletMultinomial
from stickbreak.variational.moves.merge import Candidate
from stickbreak_sequences.chain import SequenceBatch, pass_through
from stickbreak_sequences.kernels import best_path
from stickbreak_sequences.moves import MergeStates

from .twin import all_paths, forward_backward, markov_entropy

LENGTHS = (5, 0, 1, 4)


def problem(seed, K=3, lengths=LENGTHS):
    rng = np.random.default_rng(seed)
    n = sum(lengths)
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    batch = SequenceBatch(DirichletMultinomial(0.1, 4), np.zeros((n, 4)), indptr)
    return batch, rng.normal(scale=2.0, size=(n, K)), np.log(rng.dirichlet(np.ones(K))), rng.normal(size=(K, K))


def rows_of(batch):
    return [slice(a, b) for a, b in zip(batch.indptr[:-1], batch.indptr[1:], strict=True) if a < b]


@pytest.mark.parametrize("seed", range(3))
def test_a_pass_is_the_sum_over_all_paths(seed):
    batch, log_weights, log_start, log_move = problem(seed)
    want = [all_paths(log_weights[rows], log_start, log_move) for rows in rows_of(batch)]
    result, log_z = pass_through(batch, log_weights.copy(), log_start, log_move, Engine())
    np.testing.assert_allclose(log_z, sum(one[0] for one in want), rtol=1e-12)
    np.testing.assert_allclose(result.share, np.concatenate([one[1] for one in want]), atol=1e-12)
    np.testing.assert_allclose(result.transitions, sum(one[2] for one in want), atol=1e-12)
    np.testing.assert_allclose(result.entropy.sum(), sum(one[3] for one in want), rtol=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_the_best_path_is_the_best_of_all(seed):
    batch, log_weights, log_start, log_move = problem(seed)
    path = np.empty(len(log_weights), np.int64)
    best_path(batch.indptr, log_weights, log_start, log_move, path)
    want = [all_paths(log_weights[rows], log_start, log_move)[4] for rows in rows_of(batch)]
    assert path.tolist() == [state for one in want for state in one]


def test_long_sequences_agree_with_the_twin_in_logs():
    batch, log_weights, log_start, log_move = problem(7, K=4, lengths=(300, 200))
    log_weights *= 40.0  # weights that underflow
    result, log_z = pass_through(batch, log_weights.copy(), log_start, log_move, Engine())
    want = [forward_backward(log_weights[rows], log_start, log_move) for rows in rows_of(batch)]
    np.testing.assert_allclose(log_z, sum(one[0] for one in want), rtol=1e-12)
    np.testing.assert_allclose(result.share, np.concatenate([one[1] for one in want]), atol=1e-9)
    np.testing.assert_allclose(result.transitions[1:], sum(one[2].sum(axis=0) for one in want), atol=1e-8)
    entropy = sum(markov_entropy(one[1], one[2]) for one in want)
    np.testing.assert_allclose(result.entropy.sum(), entropy, atol=1e-8)


@pytest.mark.parametrize("pair", [(0, 1), (0, 3), (2, 3)])
def test_pooled_entropies_are_those_of_the_pooled_chain(pair):
    batch, log_weights, log_start, log_move = problem(3, K=4, lengths=(12, 1, 2, 0, 9))
    result, _ = pass_through(batch, log_weights.copy(), log_start, log_move, Engine())
    left, right = (np.array([state]) for state in pair)
    change = result.prior.track_pairs(result, (0, batch.n_documents), left, right).H[0]
    pool = np.eye(4)
    pool[pair[1]] = pool[pair[0]]
    want = 0.0
    for rows in rows_of(batch):
        _, share, pairs = forward_backward(log_weights[rows], log_start, log_move)
        want += markov_entropy(share @ pool, pool.T @ pairs @ pool) - markov_entropy(share, pairs)
    np.testing.assert_allclose(change, want, atol=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_what_two_merges_share_is_bounded(seed):
    """The changes of single merges overstate the entropy of both; less what they share at most they do not."""
    batch, log_weights, log_start, log_move = problem(seed, K=5, lengths=(30, 20))
    result, _ = pass_through(batch, log_weights.copy(), log_start, log_move, Engine())
    left, right = np.array([0, 2]), np.array([1, 3])
    single = result.prior.track_pairs(result, (0, batch.n_documents), left, right).H.sum()
    pool, both = np.eye(5)[[0, 0, 2, 2, 4]], 0.0
    for rows in rows_of(batch):
        _, share, pairs = forward_backward(log_weights[rows], log_start, log_move)
        both += markov_entropy(share @ pool, pool.T @ pairs @ pool) - markov_entropy(share, pairs)
    merge = MergeStates()
    merge._at = {k: k for k in range(5)}
    shared = merge._shared(result.transitions, Candidate(0, 0, 1), [Candidate(1, 2, 3)])
    assert single - shared < both < single - 1e-6


def test_the_number_of_threads_changes_no_bit():
    batch, log_weights, log_start, log_move = problem(5, K=3, lengths=(3000,) * 5)
    one, _ = pass_through(batch, log_weights.copy(), log_start, log_move, Engine(1))
    with Engine(3) as threads:
        three, _ = pass_through(batch, log_weights.copy(), log_start, log_move, threads)
    assert (one.share == three.share).all()
    assert (one.transitions == three.transitions).all()
