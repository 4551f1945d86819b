"""Compiled passes over chains: forward and backward, the most probable path, entropies of pooled states.

A sequence is a run of rows indptr[d] to indptr[d + 1]. `start` (K,) and `move` (K, K) are exp(E log pi), at least
`SMALLEST`; `weights` (n, K) are exp(E log p(x | phi)) up to a factor of the row, the largest of each row one.
"""

from __future__ import annotations

import math

import numpy as np

from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.compiling import njit

SMALLEST = 1e-100  # of a transition weight: forward and backward vectors never lose each other to underflow
NEGLIGIBLE = 1e-14  # probability of a state whose pooling changes an entropy by less than rounding


@njit(cache=True, nogil=True)
def forward(indptr: Int, weights: Float, start: Float, move: Float, ahead: Float, norm: Float) -> None:
    """Write p(z_t | x_1..t) to `ahead` (n, K), and the factors whose product is Z to `norm` (n,).   docs/math (Z6)"""
    n_states = start.size
    for d in range(indptr.size - 1):
        for t in range(indptr[d], indptr[d + 1]):
            total = 0.0
            if t == indptr[d]:
                for k in range(n_states):
                    ahead[t, k] = start[k] * weights[t, k]
                    total += ahead[t, k]
            else:
                ahead[t] = 0.0
                for j in range(n_states):
                    from_j = ahead[t - 1, j]
                    if from_j > 0.0:
                        for k in range(n_states):
                            ahead[t, k] += from_j * move[j, k]
                for k in range(n_states):
                    ahead[t, k] *= weights[t, k]
                    total += ahead[t, k]
            norm[t] = total
            for k in range(n_states):
                ahead[t, k] /= total


@njit(cache=True, nogil=True)
def backward(
    indptr: Int, weights: Float, move: Float, ahead: Float, share: Float, behind: Float, starts: Float, moves: Float
) -> None:
    """Write q(z_t) to `share` (n, K), and add the expected starts (K,) and moves (K, K).            docs/math (Z6)

    `behind` (n, K) is left so that q(z_t-1 = j, z_t = k) = ahead[t - 1, j] move[j, k] behind[t, k].
    """
    n_states = starts.size
    message, before = np.empty(n_states), np.empty(n_states)
    for d in range(indptr.size - 1):
        message[:] = 1.0
        for t in range(indptr[d + 1] - 1, indptr[d] - 1, -1):
            total = 0.0
            for k in range(n_states):
                share[t, k] = ahead[t, k] * message[k]
                total += share[t, k]
            for k in range(n_states):
                share[t, k] /= total
            if t == indptr[d]:
                for k in range(n_states):
                    starts[k] += share[t, k]
                    behind[t, k] = 0.0
                continue
            for k in range(n_states):
                behind[t, k] = weights[t, k] * message[k]
            mass = 0.0
            for j in range(n_states):
                before[j] = 0.0
                for k in range(n_states):
                    before[j] += move[j, k] * behind[t, k]
                mass += ahead[t - 1, j] * before[j]
            for k in range(n_states):
                behind[t, k] /= mass
            for j in range(n_states):
                from_j = ahead[t - 1, j]
                if from_j > 0.0:
                    for k in range(n_states):
                        moves[j, k] += from_j * move[j, k] * behind[t, k]
            largest = before.max()
            for j in range(n_states):
                message[j] = before[j] / largest


@njit(cache=True, nogil=True)
def best_path(indptr: Int, log_weights: Float, log_start: Float, log_move: Float, path: Int) -> None:
    """Write the most probable states of each sequence to `path` (n,); ties go to the first state."""
    n_states = log_start.size
    for d in range(indptr.size - 1):
        first, last = indptr[d], indptr[d + 1]
        if first == last:
            continue
        came = np.zeros((last - first, n_states), np.int32)
        score = log_start + log_weights[first]
        for t in range(first + 1, last):
            after = np.empty(n_states)
            for k in range(n_states):
                best, value = 0, -math.inf
                for j in range(n_states):
                    if score[j] + log_move[j, k] > value:
                        best, value = j, score[j] + log_move[j, k]
                came[t - first, k], after[k] = best, value + log_weights[t, k]
            score = after
        state = np.argmax(score)
        for t in range(last - 1, first - 1, -1):
            path[t] = state
            state = came[t - first, state]


@njit(cache=True, nogil=True)
def entr(p: float) -> float:
    """Return - p log p."""
    return -p * math.log(p) if p > 0.0 else 0.0


@njit(cache=True, nogil=True)
def pooled_entropies(
    indptr: Int, move: Float, ahead: Float, behind: Float, share: Float, left: Int, right: Int, out: Float
) -> None:
    """Add to `out` (P,) by how much the entropy of the chains changes if two states become one.        docs/math (Z7)

    The pooled chain is the Markov chain that has the pooled probabilities of neighbouring states.
    """
    n_states = move.shape[0]
    for d in range(indptr.size - 1):
        for t in range(indptr[d], indptr[d + 1]):
            first, last = t == indptr[d], t == indptr[d + 1] - 1
            for p in range(left.size):
                i, j = left[p], right[p]
                here = share[t, i] > NEGLIGIBLE and share[t, j] > NEGLIGIBLE
                if here and (first == last):  # a state alone, or one between two
                    a, b = share[t, i], share[t, j]
                    change = entr(a + b) - entr(a) - entr(b)
                    out[p] += change if first else -change
                if first:
                    continue
                before = share[t - 1, i] > NEGLIGIBLE and share[t - 1, j] > NEGLIGIBLE
                if not (here or before):
                    continue
                for k in range(n_states):
                    if k in (i, j):
                        continue
                    if before and behind[t, k] > 0.0:
                        a, b = ahead[t - 1, i] * move[i, k] * behind[t, k], ahead[t - 1, j] * move[j, k] * behind[t, k]
                        out[p] += entr(a + b) - entr(a) - entr(b)
                    if here and ahead[t - 1, k] > 0.0:
                        a, b = ahead[t - 1, k] * move[k, i] * behind[t, i], ahead[t - 1, k] * move[k, j] * behind[t, j]
                        out[p] += entr(a + b) - entr(a) - entr(b)
                ii, ij = ahead[t - 1, i] * move[i, i] * behind[t, i], ahead[t - 1, i] * move[i, j] * behind[t, j]
                ji, jj = ahead[t - 1, j] * move[j, i] * behind[t, i], ahead[t - 1, j] * move[j, j] * behind[t, j]
                out[p] += entr(ii + ij + ji + jj) - entr(ii) - entr(ij) - entr(ji) - entr(jj)
