"""How reproducible each topic is: the same fit from several seeds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from stickbreak.comparison.align import align
from stickbreak.exceptions import InputError
from stickbreak.fitting.requirements import check_whole
from stickbreak.numerics.arrays import Float

if TYPE_CHECKING:
    import pandas as pd

_AGAIN = 0.5  # similarity at which a topic counts as found again


@dataclass(frozen=True, slots=True)
class Stability:
    """Which topics come again from other seeds.

    Attributes
    ----------
    table : DataFrame
        A row for each topic of the most typical run: topic, label, share (of the tokens of the fit), similarity (mean
        over the other runs, of the topic and its match), found (share of the other runs in which the similarity is
        at least one half) and words.
    model : fitted model
        The most typical run: the one that agrees most with the others.
    seed : int
        Its seed.
    agreement : ndarray of shape (n_runs, n_runs)
        Share of the tokens in matched topics (`Alignment.agreement`); one on the diagonal.
    n_topics : tuple of int
        Number of topics of each run.
    """

    table: pd.DataFrame
    model: Any
    seed: int
    agreement: Float
    n_topics: tuple[int, ...]


def stability(estimator: Any, X: Any, seeds: Iterable[int] = range(5)) -> Stability:
    """Fit with several seeds, and say how often each topic is found.

    Topics are matched by the tokens of X that they share (`align`).

    Parameters
    ----------
    estimator : estimator of words, or its class
        A class is taken with its defaults. It stays as it is: copies of it are fitted.
    X : Corpus, counts or texts
    seeds : iterable of int, default=range(5)
        Two different seeds at least.

    Returns
    -------
    Stability

    Raises
    ------
    InputError
        If there are fewer than two different seeds.

    Examples
    --------
    >>> import stickbreak
    >>> corpus, truth = stickbreak.corpus.toy_bars(n_documents=100, seed=0)
    >>> found = stability(stickbreak.CollapsedHDP(n_laps=3), corpus, seeds=[0, 1])
    >>> found.agreement.shape
    (2, 2)
    """
    numbers = [check_whole("seed", seed, 0) for seed in seeds]
    if len(set(numbers)) < 2 or len(set(numbers)) < len(numbers):
        raise InputError(f"seeds is {numbers}; give at least two different seeds.")
    given = estimator() if isinstance(estimator, type) else estimator
    models = [clone(given).set_params(random_state=seed).fit(X) for seed in numbers]
    n = len(models)
    agreement, pairs = np.eye(n), {}
    for i in range(n):
        for j in range(n):
            if i != j:
                pairs[i, j] = align(models[i], models[j], X)
                agreement[i, j] = pairs[i, j].agreement
    best = int(np.argmax((agreement.sum(axis=1) - 1) / (n - 1)))
    typical = models[best]
    table = typical.topics_table()[["topic", "label", "share", "words"]]
    similar = np.stack([_of_first(pairs[best, j].table) for j in range(n) if j != best])
    table.insert(3, "similarity", similar.mean(axis=0))
    table.insert(4, "found", (similar >= _AGAIN).mean(axis=0))
    return Stability(table, typical, numbers[best], agreement, tuple(model.n_topics_ for model in models))


def _of_first(table: pd.DataFrame) -> Float:
    """Return the similarity of each topic of the first model and its match."""
    return table.loc[table["topic_a"] >= 0, "similarity"].to_numpy(dtype=np.float64)
