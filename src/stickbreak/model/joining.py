"""Fitted topics that can be joined: down a path to one, to a number of them, or as a reader wishes."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from stickbreak.exceptions import InputError, NoPath
from stickbreak.fitting.engine import engine
from stickbreak.fitting.executor import one_blas_thread
from stickbreak.fitting.requirements import check_whole
from stickbreak.model.estimator import Estimator
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.pseudo_counts import Eta, total_of
from stickbreak.path.joining import find_path
from stickbreak.path.pooled import pooled
from stickbreak.path.topic_path import TopicPath
from stickbreak.path.unseen import unseen_evidence
from stickbreak.prediction.relevance import log_word_shares, relevance
from stickbreak.prediction.topics import DescribedPath, FlatTopics
from stickbreak.prediction.words import top_word_indices


class JoinedTopics(FlatTopics, Estimator):
    """The side of `TopicEstimator` that joins topics.

    A family whose topics are expected counts says so (`joins_topics`), and implements `_expected_counts` and
    `_join_topics`.
    """

    _path: TopicPath | None = None

    @property
    def joins_topics(self) -> bool:
        """Whether the topics are expected counts of tokens, and so can be joined."""
        return False

    def _expected_counts(self) -> tuple[Float, Eta]:
        """Return the expected tokens of each word in each topic, (K, W), and eta."""
        self._refuse_joins()

    def _join_topics(self, to: Int) -> None:
        """Make topic k a part of topic to[k], or drop it where that is -1, with the sums of all statistics."""
        self._refuse_joins()

    def _prior(self) -> Float:
        """Return alpha times the corpus weights of the topics, those of the inactive topics last, (K + 1,)."""
        self._refuse_joins()

    def _topic_tokens(self) -> Float:
        """Return the expected tokens of each topic, (K,), which a joined model orders its topics by."""
        return self._expected_counts()[0].sum(axis=1)

    def _refuse_joins(self) -> NoReturn:
        raise NoPath(
            f"the topics of this {type(self).__name__} cannot be joined: only expected counts of tokens can, those of "
            "TopicModel, VariationalHDP, HybridHDP, GibbsHDP, LDA, OnlineHDP and SplitMergeOnlineHDP."
        )

    def _check_joinable(self) -> None:
        check_is_fitted(self)
        if not self.joins_topics:
            self._refuse_joins()

    def find_path(self, X: Any, *, callback: Callable[[dict[str, Any]], None] | None = None) -> TopicPath:
        """Join the topics pair by pair, down to one, each time the pair that costs unseen documents least.

        Some documents are set apart: a fifth or more, about 100,000 tokens to predict at most. Topics are learned again
        from the others, and predict half of each document apart with document weights from the other half. One half
        of the documents apart says which topics join, the other half scores the path. The path
        stays with the model (`path_`) and is saved with it. The topics of the model do not change.
        math.md (J1) to (J4)

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
        self._check_joinable()
        corpus = self._corpus(X)
        seed = int(self.random_state) if isinstance(self.random_state, int | np.integer) else 0
        S, eta = self._expected_counts()
        with engine(self.n_jobs) as executor, one_blas_thread():
            choosing, scoring = unseen_evidence(S, eta, self._prior()[:-1], corpus, seed, executor)
            self._path = find_path(choosing, scoring, eta, corpus.n_words, executor, callback)
        return self._path

    @property
    def path_(self) -> TopicPath:
        """The joins of the topics down to one, with scores: what `find_path` returned."""
        check_is_fitted(self)
        if self._path is None:
            self._check_joinable()
            raise NoPath("this model has no path of joins yet; call find_path with the documents of its fit.")
        return self._path

    @property
    def hierarchy_(self) -> Float:
        """The path in the form of SciPy's hierarchical clustering, (K - 1, 4): see `TopicPath.linkage`."""
        return self.path_.linkage()

    def described_path(self, n_words: int = 10) -> DescribedPath | None:
        """Return the joins of the topics down to one, with top words; None without `find_path`.

        Parameters
        ----------
        n_words : int, default=10
            Words of what each join makes.
        """
        path, words = self._path, []
        if path is None:
            return None
        (counts, eta), log_shares = self._expected_counts(), log_word_shares(self)
        for a, b in path.joins:
            counts[a] += counts[b]
            phi = (counts[a : a + 1] + eta) / (counts[a].sum() + total_of(eta, counts.shape[1]))
            (top,) = top_word_indices(relevance(phi, log_shares), check_whole("n_words", n_words, 1))
            words.append([str(self.vocabulary_[w]) for w in top])
        return DescribedPath(path.linkage(), words, path.scores, path.standard_errors, path.best, path.overview)

    def reduced(self, n_topics: int) -> Self:
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
        path = self.path_
        model, number = self._with_groups(path.groups(n_topics))
        model._path = path.below(n_topics, number)
        return model

    def joined(self, groups: Iterable[Sequence[int]] = (), *, drop: Sequence[int] = ()) -> Self:
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
        return self._regrouped(groups, drop)[0]

    def _regrouped(self, groups: Iterable[Sequence[int]], drop: Sequence[int]) -> tuple[Self, Int]:
        """Return what `joined` does, and the number of each topic of before there; -1 of those that are gone."""
        self._check_joinable()
        K = self.n_topics_
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
        model, number = self._with_groups(wanted)
        after = np.full(K, -1)
        for group, new in zip(wanted, number.tolist(), strict=True):
            after[group] = new
        return model, after

    def _with_groups(self, groups: list[list[int]]) -> tuple[Self, Int]:
        """Return a copy whose topics are these groups, the largest first, and the number of each group there.

        Topics of no group are dropped.
        """
        to = np.full(self.n_topics_, -1)
        for group, topics in enumerate(groups):
            to[topics] = group
        number = np.empty(len(groups), np.int64)
        number[np.argsort(-pooled(self._topic_tokens(), to), kind="stable")] = np.arange(len(groups))
        model = copy.copy(self)
        model._kept, model._path = None, None
        model._join_topics(np.where(to < 0, -1, number[to]))
        if len(groups) < self.n_topics_:
            model._held_out = None  # else the topics are the same, in the order of their size
            model.stop_reason_ += f" Then {self.n_topics_} topics were reduced to {len(groups)}."
        return model, number


def _numbers(group: Sequence[int], n_topics: int) -> list[int]:
    """Return the topics of a group as numbers; refuse what is none."""
    given = np.asarray(group)
    whole = given.ndim == 1 and (given.dtype.kind in "iu" or not given.size)
    if not whole or (given.size and not 0 <= given.min() <= given.max() < n_topics):
        raise InputError(f"a group of topics is {group!r}; give a list of numbers from 0 to {n_topics - 1}.")
    return [int(k) for k in given]
