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
from stickbreak.fitting.checks import check_whole
from stickbreak.fitting.engine import Engine, one_blas_thread, threads_and_workers
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.pseudo_counts import Eta, factor_of, of_words, total_of
from stickbreak.path.evidence import Evidence, unseen_evidence
from stickbreak.path.kernels import joins as join_kernels
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
    with threads_and_workers(model.n_jobs) as engine, one_blas_thread():
        choosing, scoring = unseen_evidence(S, eta, model._document_prior()[:-1], corpus, seed, engine, model._strength)
        model._path = join_to_one(choosing, scoring, eta, corpus.n_words, engine, callback)
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


CANDIDATES = 16  # pairs whose gain is computed together ...
ROUNDS = 16  # ... and how often at most in a step
REFRESH = 0.9  # when this share of the topics is left, bounds are computed again ...
ALWAYS = 20  # ... and all gains in every step from this number on
FEWEST_GAINS = 8  # that are worth a thread
LEAST_WEIGHT = 1e-3  # of two topics in a document, for the gain of their join to be computed there
ROUNDED = 1e-9  # of a probability that is left of it: below, the difference of two may be rounding


def join_to_one(
    choosing: Sequence[Evidence],
    scoring: Sequence[Evidence],
    eta: Eta,
    n_words: int,
    engine: Engine,
    callback: Callable[[dict[str, Any]], None] | None = None,
) -> TopicPath:
    """Join topics pair by pair, down to one.

    `choosing`: tokens that topics have not seen, part by part, which say what joins; the same K topics in each.
    `scoring`: others, which say how well topics predict after each join. `callback` gets a dict after each. docs/math
    (J4)
    """
    state = JoiningState(choosing, eta, n_words)
    scored = [ScoredPart(part, eta, n_words) for part in scoring]
    joins, by_document = [], [np.concatenate([part.log_p() for part in scored])]
    while state.n_alive > 1:
        joins.append(state.join(*state.best_pair(engine)))
        for part in scored:
            if part.join(*joins[-1]):
                part.predict()
        by_document.append(np.concatenate([part.log_p() for part in scored]))
        if callback is not None:
            callback({"stage": "join", "done": len(joins), "total": state.n_topics - 1})
    pairs = np.array(joins, dtype=np.int64).reshape(-1, 2)
    lengths = np.concatenate([part.tokens.by_document(part.tokens.count) for part in scoring])
    return TopicPath.of(pairs, np.array(by_document), lengths)


class JoiningState:
    """The topics on their way: K rows, of which some are gone into others until the next refresh.

    Attributes
    ----------
    n_topics : int
        K at the start.
    number : ndarray of shape (K,)
        Of each row, the least of the topics that it holds.
    parts : list of JoinedPart
        The same rows, in each part of the evidence.
    """

    def __init__(self, evidence: Sequence[Evidence], eta: Eta, n_words: int) -> None:
        self.parts = [JoinedPart(part, eta, n_words) for part in evidence]
        self.n_topics = K = evidence[0].mass.size
        self.number = np.arange(K)
        self._alive = np.ones(K, dtype=bool)
        self._known = np.full((K, K), np.inf)  # gains when they were computed last
        self._refresh()

    @property
    def n_alive(self) -> int:
        """Topics that are left."""
        return int(self._alive.sum())

    def best_pair(self, engine: Engine) -> tuple[int, int]:
        """Return the rows whose join costs least.                                                       docs/math (J2)

        Gains are computed in the order of what is known of them, until nothing better can be expected of another pair:
        a bound, or the gain when it was computed before.
        """
        n = self.n_alive
        if n < REFRESH * self._alive.size or n <= ALWAYS:
            self._refresh()
        bounds = (self._bounds.copy() if n <= ALWAYS else np.minimum(self._bounds, self._known)).ravel()
        size = min(CANDIDATES * ROUNDS, bounds.size)
        likely = np.argpartition(-bounds, size - 1)[:size]
        likely = likely[np.argsort(-bounds[likely], kind="stable")]
        best, chosen = -np.inf, -1
        for first in range(0, size, CANDIDATES):
            found = likely[first : first + CANDIDATES]
            found = found[bounds[found] > best]
            if found.size == 0:
                break
            bounds[found] = self._gains(found, engine)
            self._known.ravel()[found] = bounds[found]
            at = found[np.argmax(bounds[found])]
            if bounds[at] > best:
                best, chosen = float(bounds[at]), int(at)
        a, b = divmod(chosen, self._alive.size)
        return a, b

    def join(self, a: int, b: int) -> tuple[int, int]:
        """Give all that row b has to row a; return the numbers of the two topics."""
        numbers = int(self.number[a]), int(self.number[b])
        self.number[a], self._alive[b] = min(numbers), False
        spoilt = [part.join(a, b) for part in self.parts]
        bounds = sum(part.bound(a) for part in self.parts)
        of_a = np.where(self._alive, bounds, -np.inf)
        self._bounds[b], self._bounds[:, b] = -np.inf, -np.inf
        self._known[a], self._known[:, a] = np.inf, np.inf
        self._bounds[a, a + 1 :], self._bounds[:a, a] = of_a[a + 1 :], of_a[:a]
        if any(spoilt):
            self._refresh()
        return min(numbers), max(numbers)

    def _gains(self, flat: Int, engine: Engine) -> Float:
        """Return the gains of pairs, given as places in the table of bounds."""
        pairs = np.stack(np.divmod(flat, self._alive.size), axis=1)

        def run(some: Int) -> Float:
            return np.asarray(sum(part.gains(some) for part in self.parts))

        return np.concatenate(engine.map(run, np.array_split(pairs, max(1, len(pairs) // FEWEST_GAINS))))

    def _refresh(self) -> None:
        """Drop the rows that are gone, and make p and the bounds again."""
        kept = np.flatnonzero(self._alive)
        self.number, self._known = self.number[kept], self._known[np.ix_(kept, kept)]
        self._alive = np.ones(kept.size, dtype=bool)
        self._bounds = np.full((kept.size, kept.size), -np.inf)
        for part in self.parts:
            part.refresh(kept)
        for k in range(kept.size - 1):
            self._bounds[k, k + 1 :] = sum(part.bound(k)[k + 1 :] for part in self.parts)


class ScoredPart:
    """K rows of topics, as they were learned without the documents of this part. Rows that are gone have no weight.

    Attributes
    ----------
    tokens : HeldOutTokens
    tau : ndarray of shape (K, W')
        S_kw + eta of the words of the tokens.
    mass : ndarray of shape (K,)
        N_k + W eta.
    theta : ndarray of shape (K, D)
    p : ndarray of shape (I,)
        Probability of each count's word in its document.
    """

    def __init__(self, evidence: Evidence, eta: Eta, n_words: int) -> None:
        self.tokens, self.total_eta = evidence.tokens, float(total_of(eta, n_words))
        self.eta = of_words(eta, evidence.tokens.words)
        self.tau, self.mass = evidence.tau.copy(), evidence.mass.copy()
        self.theta = evidence.theta.T.copy()
        self._document = self.tokens.document
        self.p = np.empty(self.tokens.word.size)
        self.predict()

    def log_p(self) -> Float:
        """Return the log probability of the tokens of each document, (D,)."""
        of_counts = self.tokens.count * np.log(self.p)
        return np.bincount(self._document, of_counts, minlength=self.tokens.n_documents).astype(np.float64)

    def predict(self) -> None:
        """Make p again."""
        join_kernels.predict(self.tokens.indptr, self.tokens.word, self.theta, self.tau, self.mass, self.p)

    def join(self, a: int, b: int) -> bool:
        """Give all that row b has to row a; return whether rounding may have spoilt a probability."""
        of_topics = self.theta, self.tau, self.mass, self.eta, self.total_eta
        least = join_kernels.follow(self.tokens.indptr, self.tokens.word, *of_topics, a, b, self.p)
        self.tau[a] += self.tau[b] - self.eta
        self.mass[a] += self.mass[b] - self.total_eta
        self.theta[a] += self.theta[b]
        self.theta[b] = 0.0
        return not least >= ROUNDED


class JoinedPart(ScoredPart):
    """The rows of a part that says which of them join.

    Attributes
    ----------
    inverse : ndarray of shape (I,)
        1 / p.
    """

    inverse: Float

    def join(self, a: int, b: int) -> bool:
        """Give all that row b has to row a; return whether rounding may have spoilt a probability."""
        masses = float(self.mass[a]), float(self.mass[b])
        spoilt = super().join(a, b)
        self.inverse = 1.0 / self.p
        self._follow(a, b, *masses)
        return spoilt

    def gains(self, pairs: Int) -> Float:
        """Return what the joins of pairs of rows, (n, 2), gain, (n,).                                docs/math (J2)"""
        tokens, out = self.tokens, np.empty(len(pairs))
        settings = (self.inverse, self.theta, self.tau, self.mass, self.eta, self.total_eta, LEAST_WEIGHT)
        join_kernels.gains((tokens.indptr, tokens.word, tokens.count), *settings, pairs, out)
        return out

    def refresh(self, kept: Int) -> None:
        """Keep these rows, and make p, X_lk = sum_i c_i theta_l phi_k / p_i and Y_l = sum_i c_i theta_l / p_i again."""
        tokens = self.tokens
        self.tau, self.mass, self.theta = self.tau[kept], self.mass[kept], self.theta[kept]
        self.predict()
        self.inverse = 1.0 / self.p
        ratio, of_documents = tokens.count * self.inverse, np.empty(self.theta.shape)
        join_kernels.shares_of_documents(tokens.indptr, tokens.word, ratio, self.tau, self.mass, of_documents)
        self._X = self.theta @ of_documents.T
        of_eta = ratio * self.eta[tokens.word] if isinstance(self.eta, np.ndarray) else ratio
        self._Y = self.theta @ tokens.by_document(of_eta)

    def bound(self, k: int) -> Float:
        """Return what the joins of row k gain at most, (K,): sum_i c_i (p_i' - p_i) / p_i, linear in X and Y."""
        X, Y, mass, own = self._X, self._Y, self.mass, np.diag(self._X)
        mixed = mass[k] * (own[k] + X[:, k]) + mass * (X[k] + own) - factor_of(self.eta) * (Y[k] + Y)
        return np.asarray(mixed / (mass[k] + mass - self.total_eta) - own[k] - own)

    def _follow(self, a: int, b: int, mass_a: float, mass_b: float) -> None:
        """Let X and Y follow the join of row b into row a, with p as it was at the last refresh."""
        X, Y = self._X, self._Y
        X[a] += X[b]
        Y[a] += Y[b]
        X[:, a] = (mass_a * X[:, a] + mass_b * X[:, b] - factor_of(self.eta) * Y) / self.mass[a]
