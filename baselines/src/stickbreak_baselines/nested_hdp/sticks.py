"""The weights of children in the corpus: sticks at every node, whose rest is the last child (docs/math (F5))."""

from __future__ import annotations

import numpy as np
from scipy.special import betaln, psi

from stickbreak.numerics.arrays import Float
from stickbreak_baselines.nested_hdp.tree import Tree


def sticks(tree: Tree, picks: Float, gamma: float) -> tuple[Float, Float]:
    """Return a and b of q(v_k) = Beta(a_k, b_k), (K,): a_k = 1 + M_k, b_k = gamma + M of later siblings. docs/math (F5)

    Parameters
    ----------
    tree : Tree
    picks : ndarray of shape (K,)
        M_k: documents whose subtree has the node.
    gamma : float
    """
    return 1.0 + picks, gamma + np.maximum(tree.later(picks), 0.0)


def _logs(tree: Tree, picks: Float, gamma: float) -> tuple[Float, Float]:
    """Return E log v and E log(1 - v), (K,); of a last child 0 and 0."""
    a, b = sticks(tree, picks, gamma)
    both = psi(a + b)
    return np.where(tree.last, 0.0, psi(a) - both), np.where(tree.last, 0.0, psi(b) - both)


def expected_log_weights(tree: Tree, picks: Float, gamma: float) -> Float:
    """Return E log g_k of each child among its siblings, (K,)."""
    taken, left = _logs(tree, picks, gamma)
    found: Float = taken + tree.earlier(left)
    return found


def expected_weights(tree: Tree, picks: Float, gamma: float) -> Float:
    """Return E g_k of each child among its siblings, (K,); those of one parent sum to one."""
    a, b = sticks(tree, picks, gamma)
    taken = np.where(tree.last, 0.0, np.log(a) - np.log(a + b))
    left = np.where(tree.last, 0.0, np.log(b) - np.log(a + b))
    found: Float = np.exp(taken + tree.earlier(left))
    return found


def objective_of_sticks(tree: Tree, picks: Float, gamma: float) -> float:
    """Return E log p(v) - E log q(v) of all sticks.                                                  docs/math (F5)"""
    a, b = sticks(tree, picks, gamma)
    taken, left = _logs(tree, picks, gamma)
    parts = np.log(gamma) + betaln(a, b) + (1.0 - a) * taken + (gamma - b) * left
    return float(parts[~tree.last].sum())
