"""How reproducible each topic is: which other fits find it, too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from stickbreak.comparison.align import Alignment, align
from stickbreak.exceptions import InputError
from stickbreak.fitting.checks import check_whole
from stickbreak.model.input_documents import counted_for
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
    >>> found = stability(stickbreak.TopicModel(n_laps=3), corpus, seeds=[0, 1])
    >>> found.agreement.shape
    (2, 2)
    """
    numbers = [check_whole("seed", seed, 0) for seed in seeds]
    if len(set(numbers)) < 2 or len(set(numbers)) < len(numbers):
        raise InputError(f"seeds is {numbers}; give at least two different seeds.")
    given = estimator() if isinstance(estimator, type) else estimator
    models = [_unfitted(given, seed).fit(X) for seed in numbers]
    n = len(models)
    agreement, pairs = np.eye(n), {}
    for i in range(n):
        for j in range(n):
            if i != j:
                pairs[i, j] = align(models[i], models[j], X)
                agreement[i, j] = pairs[i, j].agreement
    best = int(np.argmax((agreement.sum(axis=1) - 1) / (n - 1)))
    typical = models[best]
    table = _table(typical, [pairs[best, j] for j in range(n) if j != best])
    return Stability(table, typical, numbers[best], agreement, tuple(model.n_topics_ for model in models))


def found_again(
    model: Any,
    others: Iterable[Any] | int,
    X: Any = None,
    *,
    callback: Callable[[dict[str, Any]], None] | None = None,
) -> pd.DataFrame:
    """Say how often each topic of a fitted model is found in other fitted models, such as fits from other seeds.

    Parameters
    ----------
    model : fitted model of words
    others : iterable of fitted models of words, or int
        One or more, of any families. A number, such as 3: this many fits to X with the parameters of the model, each
        from another seed. They take as long as the fit of the model did, each.
    X : Corpus, counts or texts, optional
        Documents to compare them on, as in `align`. By default the words of topics are compared. For fits from other
        seeds: the documents of the fit.
    callback : callable, optional
        Called by each fit from another seed, as that of `fit`.

    Returns
    -------
    DataFrame
        As `Stability.table`; NaN for leaves of a tree that are not among the 100 largest, which alone are compared.
        `attrs` has n_fits, the number of other models.

    Raises
    ------
    InputError
        If there is no other model, they cannot be compared, or the fit had documents with labels.

    Examples
    --------
    >>> import stickbreak
    >>> corpus, truth = stickbreak.corpus.toy_bars(n_documents=100, seed=0)
    >>> first, second = (stickbreak.TopicModel(n_laps=3, random_state=s).fit(corpus) for s in (0, 1))
    >>> bool((found_again(first, [first, second])["found"] >= 0.5).all())
    True
    >>> found_again(first, 2, corpus).attrs["n_fits"]
    2
    """
    if isinstance(others, int | np.integer):
        others = _from_other_seeds(model, check_whole("others", others, 1), X, callback)
    pairs = [align(model, other, X) for other in others]
    if not pairs:
        raise InputError("there is no other model; give one or more.")
    return _table(model, pairs)


def _from_other_seeds(model: Any, n_fits: int, X: Any, callback: Any) -> list[Any]:
    """Fit to the documents of a fitted model again, with its parameters and the seeds that follow its own."""
    if X is None:
        raise InputError("fits from other seeds need X, the documents of the fit.")
    if getattr(model, "label_names_", None):
        raise InputError(
            "this model was fitted to documents with labels, which it does not keep; fit again with the labels and "
            "another seed, and give that model."
        )
    corpus = counted_for(model, X)
    own = model.random_state
    first = int(own) + 1 if isinstance(own, int | np.integer) else 1
    return [_unfitted(model, seed).fit(corpus, callback=callback) for seed in range(first, first + n_fits)]


def _unfitted(model: Any, seed: int) -> Any:
    """Return an unfitted copy with another seed, which starts from the same fitted model where the first one does."""
    init = getattr(model, "init", None)
    given = {"init": init} if isinstance(init, BaseEstimator) else {}
    return clone(model).set_params(random_state=seed, **given)


def _table(model: Any, pairs: Sequence[Alignment]) -> pd.DataFrame:
    """Return the topics of a model, with how they were matched in each of some alignments with it."""
    table = model.topics_table()[["topic", "label", "share", "words"]]
    similar = np.stack([_of_topics(pair.table, table["topic"]) for pair in pairs])
    found = np.where(np.isnan(similar), np.nan, similar >= _AGAIN)
    table.insert(3, "similarity", similar.mean(axis=0))
    table.insert(4, "found", found.mean(axis=0))
    table.attrs = {"n_fits": len(pairs)}
    return table


def _of_topics(table: pd.DataFrame, topics: pd.Series) -> Float:
    """Return the similarity of topics of the first model and their matches; NaN for those that were not compared."""
    first = table[table["topic_a"] >= 0].set_index("topic_a")["similarity"]
    return first.reindex(topics).to_numpy(dtype=np.float64)
