"""Split-merge moves on the dishes of the franchise (Wang and Blei 2012): many tables change their topic at once."""

from __future__ import annotations

from typing import NamedTuple

from stickbreak.numerics.pseudo_counts import Eta
from stickbreak.sampling.kernels.split_merge import run_trials
from stickbreak.sampling.state import NO_LIMIT, TableList


class Trials(NamedTuple):
    """How often split-merge moves were tried and accepted."""

    splits_tried: int
    splits_accepted: int
    merges_tried: int
    merges_accepted: int

    def plus(self, other: Trials) -> Trials:
        """Return the trials of both."""
        return Trials(*(a + b for a, b in zip(self, other, strict=True)))


def split_merge(
    tables: TableList,
    n_topics: int,
    *,
    gamma: float,
    eta: Eta,
    n_words: int,
    trials: int,
    scans: int,
    key: int,
    n_kept: int = 0,
    max_topics: int = NO_LIMIT,
) -> tuple[int, Trials]:
    """Try splits and merges of topics; each trial leaves the posterior invariant.                    math.md (M1)

    Parameters
    ----------
    tables : TableList
        `topic` is changed in place; afterwards the topics are numbered 0 .. K - 1 without gaps.
    n_topics : int
        K, the topics of the tables.
    gamma : float
        Concentration of the corpus weights.
    eta : float or ndarray of shape (W,)
        Pseudo-count of each word in each topic.
    n_words : int
        W, words of the vocabulary.
    trials : int
        Pairs of tables that are picked, one after the other.
    scans : int
        0: the tables are allocated once, in random order (Dahl 2003). t: that allocation and t restricted Gibbs scans
        only lead to where the scan of the proposal starts (Jain and Neal 2004), which makes better proposals at t + 2
        times the cost.
    key : int
        The random numbers depend on it and on the number of the trial, on nothing else.
    n_kept : int, default=0
        The first topics, which no trial is about.
    max_topics : int, optional
        A trial that would lead to more topics is not made.

    Returns
    -------
    n_topics : int
        K afterwards.
    trials : Trials
        All zero when there are fewer than two tables.

    References
    ----------
    C. Wang, D. M. Blei. A split-merge MCMC algorithm for the hierarchical Dirichlet process. 2012. Fig. 2.
    D. B. Dahl. An improved merge-split sampler for conjugate Dirichlet process mixture models. 2003.
    S. Jain, R. M. Neal. A split-merge Markov chain Monte Carlo procedure for the Dirichlet process mixture model. 2004.
    """
    if tables.topic.size < 2:
        return n_topics, Trials(0, 0, 0, 0)
    n_topics, made = run_trials(
        tables.start, tables.word, tables.topic, n_topics, n_kept, max_topics, gamma, eta, n_words, trials, scans, key
    )
    return int(n_topics), Trials(*map(int, made))
