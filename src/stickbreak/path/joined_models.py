"""Fitted topics that are joined: down a path to one, to a number of them, or as a reader wishes.

Each function is also a method of models of words. A family whose topics are expected counts implements `_join_topics`,
which makes topic k a part of topic to[k], or drops it where that is -1, with the sums of all statistics.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from stickbreak.exceptions import InputError, NoPath
from stickbreak.fitting.engine import engine
from stickbreak.fitting.executor import one_blas_thread
from stickbreak.fitting.requirements import check_whole
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.pseudo_counts import total_of
from stickbreak.path.evidence import unseen_evidence
from stickbreak.path.joining import join_to_one
from stickbreak.path.topic_path import TopicPath
from stickbreak.prediction.topics import DescribedPath
from stickbreak.prediction.words import log_word_shares, relevance, top_word_indices

Model = TypeVar("Model")


def pooled(table: Float, to: Int) -> Float:
    """Return the table in which row k has become a part of row to[k]; every row from 0 to max(to) gets some.

    Rows with to[k] of -1 are left out.

    Examples
    --------
    >>> pooled(np.array([[1.0, 2.0], [4.0, 0.0], [3.0, 3.0]]), np.array([1, 0, 1])).tolist()
    [[4.0, 0.0], [4.0, 5.0]]
    """
    order = np.argsort(to, kind="stable")[int((to < 0).sum()) :]
    first = np.searchsorted(to[order], np.arange(int(to.max()) + 1))
    return np.asarray(np.add.reduceat(table[order], first, axis=0), dtype=np.float64)


def check_joinable(model: Any) -> None:
    """Refuse a model whose topics cannot be joined."""
    check_is_fitted(model)
    if not model.joins_topics:
        raise NoPath(
            f"the topics of this {type(model).__name__} cannot be joined: only expected counts of tokens can, those of "
            "TopicModel, VariationalHDP, HybridHDP, GibbsHDP, LDA, OnlineHDP and SplitMergeOnlineHDP."
        )


def find_path(model: Any, X: Any, *, callback: Callable[[dict[str, Any]], None] | None = None) -> TopicPath:
    """Join the topics pair by pair, down to one, each time the pair that costs unseen documents least.

    Some documents are set apart: a fifth or more, about 100,000 tokens to predict at most. Topics are learned again
    from the others, and predict half of each document apart with document weights from the other half. One half
    of the documents apart says which topics join, the other half scores the path. The path
    stays with the model (`path_`) and is saved with it. The topics of the model do not change.
    docs/math (J1) to (J4)

    Parameters
    ----------
    X : texts, Corpus, sparse matrix or array of shape (D, W)
        The documents of the fit, or a random part of them.
    callback : callable, optional
        Called with a dict after each join: {"stage": "join", "done", "total"}.

    Returns
    -------
    TopicPath

    Raises
    ------
    InputError
        If the topics of this model cannot be joined or are more than 2,000, or the documents hold too few tokens.
    """
    check_joinable(model)
    corpus = model._corpus(X)
    seed = int(model.random_state) if isinstance(model.random_state, int | np.integer) else 0
    S, eta = model._expected_counts()
    with engine(model.n_jobs) as executor, one_blas_thread():
        choosing, scoring = unseen_evidence(S, eta, model._prior()[:-1], corpus, seed, executor)
        model._path = join_to_one(choosing, scoring, eta, corpus.n_words, executor, callback)
    return model._path


def path_of(model: Any) -> TopicPath:
    """Return the path of joins that stays with a model."""
    check_is_fitted(model)
    if model._path is None:
        check_joinable(model)
        raise NoPath("this model has no path of joins yet; call find_path with the documents of its fit.")
    path: TopicPath = model._path
    return path


def described_path(model: Any, n_words: int = 10) -> DescribedPath | None:
    """Return the joins of the topics down to one, with top words; None without `find_path`.

    Parameters
    ----------
    n_words : int, default=10
        Words of what each join makes.
    """
    path, words = model._path, []
    if path is None:
        return None
    (counts, eta), log_shares = model._expected_counts(), log_word_shares(model)
    for a, b in path.joins:
        counts[a] += counts[b]
        phi = (counts[a : a + 1] + eta) / (counts[a].sum() + total_of(eta, counts.shape[1]))
        (top,) = top_word_indices(relevance(phi, log_shares), check_whole("n_words", n_words, 1))
        words.append([str(model.vocabulary_[w]) for w in top])
    values = path.scores, path.standard_errors, path.best, path.overview
    return DescribedPath(path.linkage(), words, *values, path.labels)


def reduced(model: Model, n_topics: int) -> Model:
    """Return a model with fewer topics: those at one point of the path.

    The model is fitted, of the same class, and can do all that this one can. Only `continue_fit` cannot go on from
    it, as the state of the fit belongs to the topics before. The topics are in order of their size.

    Parameters
    ----------
    n_topics : int
        From 1 to the number of topics of this model.

    Raises
    ------
    InputError
        If there is no path (`find_path`), or it has no such number of topics.
    """
    path = path_of(model)
    groups = path.groups(n_topics)
    smaller, number = _with_groups(model, groups)
    smaller._path = path.below(n_topics, number)
    group_of = {tuple(topics): g for g, topics in enumerate(groups)}
    for i, topics in enumerate(path.members()[: path.scores.size - n_topics]):
        if i in path.labels and tuple(topics) in group_of:
            smaller._labels[int(number[group_of[tuple(topics)]])] = path.labels[i]
    return smaller


def joined(model: Model, groups: Iterable[Sequence[int]] = (), *, drop: Sequence[int] = ()) -> Model:
    """Return a model in which the topics of each group are one topic, and others are gone.

    The model is fitted, of the same class, as that of `reduced`. It has no path. A joined topic has the label of
    the first topic of its group that has one.

    Parameters
    ----------
    groups : iterable of sequences of int
        Numbers of topics, as `top_words` and all lists of topics show them; each in one group at most. Other topics
        stay as they are.
    drop : sequence of int
        Topics that the model forgets, with their tokens. Nothing is added to other topics: shares of topics are of
        the tokens that are left. `transform` explains all words of a document by the topics that are left, so that
        its weights still sum to one.

    Raises
    ------
    InputError
        If a number is not that of a topic or stands twice, or no topic would be left.
    """
    return regrouped(model, groups, drop)[0]


def regrouped(model: Model, groups: Iterable[Sequence[int]], drop: Sequence[int]) -> tuple[Model, Int]:
    """Return what `joined` does, and the number of each topic of before there; -1 of those that are gone."""
    check_joinable(model)
    asked: Any = model
    K, labels = asked.n_topics_, asked.labels_
    if not hasattr(groups, "__iter__"):
        raise InputError(f"groups is {groups!r}; give lists of topic numbers, such as [[3, 7], [2, 9]].")
    given, gone = [_numbers(group, K) for group in groups], _numbers(drop, K)
    named = [*(k for group in given for k in group), *gone]
    if len(set(named)) < len(named):
        twice = next(k for k in named if named.count(k) > 1)
        raise InputError(f"topic {twice} stands twice in what to join and drop; name each topic once.")
    alone = [[k] for k in range(K) if k not in set(named)]
    wanted = [group for group in given if group] + alone
    if not wanted:
        raise InputError(f"all {K} topics would be dropped; keep at least one.")
    result, number = _with_groups(model, wanted)
    after = np.full(K, -1)
    for group, new in zip(wanted, number.tolist(), strict=True):
        after[group] = new
    labelled = [k for group in reversed(given) for k in reversed(group) if k in labels]
    result._labels = result.labels_ | {int(after[k]): labels[k] for k in labelled}
    return result, after


def _with_groups(model: Any, groups: list[list[int]]) -> tuple[Any, Int]:
    """Return a copy whose topics are these groups, the largest first, and the number of each group there.

    Topics of no group are dropped.
    """
    to = np.full(model.n_topics_, -1)
    for group, topics in enumerate(groups):
        to[topics] = group
    number = np.empty(len(groups), np.int64)
    number[np.argsort(-pooled(model._topic_tokens(), to), kind="stable")] = np.arange(len(groups))
    twin = copy.copy(model)
    twin._kept, twin._path = None, None
    twin._join_topics(np.where(to < 0, -1, number[to]))
    if len(groups) < model.n_topics_:
        twin._held_out = None  # else the topics are the same, in the order of their size
        twin.stop_reason_ += f" Then {model.n_topics_} topics were reduced to {len(groups)}."
    alone = {group[0]: int(number[g]) for g, group in enumerate(groups) if len(group) == 1}
    twin._labels = {alone[k]: label for k, label in model.labels_.items() if k in alone}
    return twin, number


def _numbers(group: Sequence[int], n_topics: int) -> list[int]:
    """Return the topics of a group as numbers; refuse what is none."""
    given = np.asarray(group)
    whole = given.ndim == 1 and (given.dtype.kind in "iu" or not given.size)
    if not whole or (given.size and not 0 <= given.min() <= given.max() < n_topics):
        raise InputError(f"a group of topics is {group!r}; give a list of numbers from 0 to {n_topics - 1}.")
    return [int(k) for k in given]
