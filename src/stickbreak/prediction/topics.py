"""What report, command line and evaluation ask of fitted topics, and how topics of one table answer."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stickbreak.corpus import Corpus, TextOptions
from stickbreak.exceptions import InputError
from stickbreak.fitting.checks import check_whole
from stickbreak.numerics.arrays import Float, Int
from stickbreak.prediction.completion import (
    Completion,
    HeldOutScore,
    completion_log_likelihood,
    scored_documents,
)
from stickbreak.prediction.words import (
    check_same_words,
    document_blocks,
    log_word_shares,
    most_relevant,
    top_word_indices,
)


class FittedTopics(Protocol):
    """The fitted surface that every family shares, as far as it is read here (K topics, W words).

    `evaluate` and `document_completion` take any object that has it: they ask it through `as_topics`.
    """

    @property
    def n_topics_(self) -> int:
        """Number of topics K."""

    @property
    def topic_word_(self) -> NDArray[np.float64]:
        """Word distributions of the topics, (K, W)."""

    @property
    def topic_weights_(self) -> NDArray[np.float64]:
        """Expected corpus weights of the topics, (K,)."""

    @property
    def rest_word_(self) -> NDArray[np.float64]:
        """Word distribution of the inactive topics, (W,)."""

    @property
    def vocabulary_(self) -> tuple[str, ...]:
        """The W words."""

    @property
    def trace_(self) -> Mapping[str, Any]:
        """Equally long arrays, one entry per lap."""

    def transform(self, X: Any, /) -> NDArray[np.float64]:
        """Return topic weights of documents, (D, K); rows sum to one."""

    def expected_weights(self, X: Any, /) -> NDArray[np.float64]:
        """Return topic weights with the inactive mass last, (D, K + 1); rows sum to one."""


def checked_numbers(name: str, given: ArrayLike, n: int) -> Int:
    """Return numbers of topics or words as an array.

    Parameters
    ----------
    name : str
        What was given, for messages.
    given : array-like of int, of shape (m,)
    n : int
        How many there are.

    Raises
    ------
    InputError
        If they are not whole numbers from 0 to n - 1.
    """
    chosen = np.atleast_1d(np.asarray(given))
    if chosen.ndim != 1 or (chosen.size and chosen.dtype.kind not in "iu"):
        raise InputError(f"{name} is {given!r}; give a list of whole numbers.")
    if chosen.size and not 0 <= chosen.min() <= chosen.max() < n:
        if chosen.size == 1:
            raise InputError(f"{name.removesuffix('s')} is {chosen[0]}; give a number from 0 to {n - 1}.")
        raise InputError(f"{name} is {given!r}; give numbers from 0 to {n - 1}.")
    return chosen.astype(np.int64)


@dataclass(frozen=True, slots=True)
class ShownTopics:
    """The topics of a model that a table or a page shows.

    Attributes
    ----------
    numbers : ndarray of int, of shape (n,)
        Number of each topic: its row in ``topic_word_`` or its leaf in a tree, and its column in `transform`.
    shares : ndarray of shape (n,)
        Shares of the tokens of the fit.
    weights : ndarray of shape (n,)
        Expected corpus weights; for a tree they are the shares.
    words : list of lists of (str, float)
        The most relevant words with their probabilities (docs/math (Q5)).
    """

    numbers: Int
    shares: Float
    weights: Float
    words: list[list[tuple[str, float]]]


@dataclass(frozen=True, slots=True)
class DescribedPath:
    """The joins of K topics down to one, with the words of what they make.

    Attributes
    ----------
    linkage : ndarray of shape (K - 1, 4)
        The joins in SciPy's form.
    words : list of lists of str
        Top words of what each join makes.
    scores, standard_errors : ndarray of shape (K,)
        Of K, K - 1, ..., 1 topics.
    best, overview : int
        Numbers of topics: the one that predicts best, and one to read at a glance.
    labels : mapping of int to str
        Labels that groups were given, by the row of `linkage` that makes the group.
    """

    linkage: Float
    words: list[list[str]]
    scores: Float
    standard_errors: Float
    best: int
    overview: int
    labels: Mapping[int, str] = field(default_factory=dict)


class FlatTopics:
    """What can be asked of the topics of any fitted model, answered from one table of them (K topics, W words).

    A model whose topics fit in no table, or are ranked in another way, overrides what it answers otherwise: a tree of a
    million leaves does. Who asks need not know which it is.
    """

    vocabulary_: tuple[str, ...]
    text_options_: TextOptions | None = None  # how the texts of the fit were counted; None after a fit to counts
    text_column_: str | None = None  # their column in its data frame
    takes_vectors: ClassVar[bool] = False  # whether topics follow from vectors of the documents, not from their words
    vector_column_: str | None = None  # the column of these vectors
    _labels: dict[int, str] | None = None  # that were given, by the number of the topic

    @property
    @abstractmethod
    def topic_word_(self) -> Float:
        """Expected word distributions, (K, W)."""

    @property
    @abstractmethod
    def topic_weights_(self) -> Float:
        """Expected corpus weights of the topics, (K,)."""

    @property
    @abstractmethod
    def topic_shares_(self) -> Float:
        """Share of the tokens of the fit that each topic has, (K,); they sum to one."""

    @property
    @abstractmethod
    def rest_word_(self) -> Float:
        """Word distribution of the inactive topics, (W,)."""

    @abstractmethod
    def expected_weights(self, X: Any) -> Float:
        """Return the expected topic weights of documents with the inactive rest last, (D, K + 1)."""

    @abstractmethod
    def transform(self, X: Any) -> Any:
        """Return the weights of the topics in documents, (D, `n_columns_`), dense or sparse."""

    def _bare_documents(self, corpus: Corpus) -> Corpus:
        """Return documents with no more than their weights depend on."""
        return replace(corpus, names=None, metadata=None)

    def active_weights(self, X: Any) -> Any:
        """Return what `transform` does, as an array, dense or sparse, whatever scikit-learn's `set_output` says."""
        return self.transform(X)

    def map_vectors(self, X: Any) -> Float | None:
        """Return rows of length one whose products say how alike documents are, (D, m); None: their weights say it."""
        return None

    @property
    def n_topics_(self) -> int:
        """Number of topics K of the fitted model."""
        return int(self.topic_word_.shape[0])

    @property
    def n_columns_(self) -> int:
        """Number of columns that `transform` returns: one for each topic."""
        return self.n_topics_

    @property
    def tree_(self) -> Any:
        """The root of the tree of topics; None if the topics do not form a tree, as here."""
        return None

    @property
    def labels_(self) -> dict[int, str]:
        """The labels that were given, by the number of the topic."""
        return dict(self._labels or {})

    def is_topic(self, number: int) -> bool:
        """Tell whether a number is that of a topic."""
        try:
            self.word_distributions([number])
        except InputError:
            return False
        return True

    def _keeps_number(self, k: int) -> bool:
        """Whether a topic keeps its number, and so its label, whatever a call changes."""
        return False

    @property
    def seed_topics_(self) -> dict[str, int]:
        """The number of the topic of each seed, by the name of the seed; empty where there are none."""
        return {}

    @property
    def held_out_(self) -> HeldOutScore | None:
        """The held-out score that was noted for these topics; None where nothing is known."""
        return None

    def described_path(self, n_words: int = 10) -> DescribedPath | None:
        """Return the joins of the topics down to one, with top words; None if they are not known, as here."""
        return None

    def word_distributions(self, topics: ArrayLike) -> Float:
        """Return the probabilities of all words at some topics.

        Parameters
        ----------
        topics : array-like of int, of shape (n,)
            Rows of ``topic_word_``.

        Returns
        -------
        ndarray of shape (n, W)
            Rows sum to one.

        Raises
        ------
        InputError
            If a number is not that of a topic.
        """
        phi = self.topic_word_
        return np.asarray(phi[checked_numbers("topics", topics, len(phi))], dtype=np.float64)

    def token_shares(self) -> Float:
        """Return the share of all tokens that each word has in each topic, (K, W), from which a fit can start."""
        weights = self.topic_weights_
        return self.topic_word_ * (weights / weights.sum())[:, None]

    def word_shares(self) -> Float:
        """Return the share of the tokens of the fit that each word has, (W,): sum_k share_k phi_kw."""
        return np.asarray(self.topic_shares_ @ self.topic_word_)

    def topics_of_words(self, words: ArrayLike) -> tuple[Int, Float, Float]:
        """Return the share of the tokens of the fit that are a word and of a topic: share_k phi_kw.

        Parameters
        ----------
        words : array-like of int, of shape (n,)
            Columns of words.

        Returns
        -------
        numbers : ndarray of int, of shape (m,)
            Topics: all, or of a tree those that have tokens of the words.
        sizes : ndarray of shape (m,)
            Share of all tokens that each of these topics has.
        shares : ndarray of shape (m, n)

        Raises
        ------
        InputError
            If a number is not that of a word.
        """
        phi, sizes = self.topic_word_, np.asarray(self.topic_shares_, dtype=np.float64)
        return np.arange(sizes.size), sizes, sizes[:, None] * phi[:, checked_numbers("words", words, phi.shape[1])]

    def top_word_indices(self, n: int = 10) -> NDArray[np.integer]:
        """Return the most probable words of every topic in order, as coherence uses them.

        Parameters
        ----------
        n : int, default=10
            Number of words of a topic, or all if there are fewer.

        Returns
        -------
        ndarray of shape (K, min(n, W))
            Columns of words. Words of equal probability are in the order of their columns.

        Raises
        ------
        InputError
            If `n` is not a whole number of at least 1.
        """
        return top_word_indices(np.asarray(self.topic_word_, dtype=np.float64), check_whole("n", n, 1))

    def shown_topics(self, n_words: int = 10, *, most: int = 100) -> ShownTopics:
        """Return the topics that a table or a page shows: all topics in their order.

        Parameters
        ----------
        n_words : int, default=10
            Maximum number of words of each topic.
        most : int, default=100
            For a tree, which may have a million topics: show this number of the largest. Here all are shown.

        Raises
        ------
        InputError
            If a number is not whole or less than 1.
        """
        check_whole("most", most, 1)
        phi = np.asarray(self.topic_word_, dtype=np.float64)
        numbers, n_words = np.arange(len(phi)), check_whole("n_words", n_words, 1)
        ranked = most_relevant(phi, log_word_shares(self), n_words)
        words = [[(self.vocabulary_[w], float(phi[k, w])) for w in row] for k, row in enumerate(ranked)]
        shares, weights = (np.asarray(of, dtype=np.float64) for of in (self.topic_shares_, self.topic_weights_))
        return ShownTopics(numbers, shares, weights, words)

    @property
    def _strength(self) -> float:
        """How many tokens of a document the topics are worth; infinite without bursts."""
        return math.inf

    def complete(self, observed: Any, held_out: Any, *, seen: ArrayLike | None = None) -> Completion:
        """Score the held-out halves of documents, with topic weights from the observed halves.

        docs/math (D6); Hughes et al. 2015, Eq. 22. The topics stay fixed. Documents with an empty half are left out.

        Parameters
        ----------
        observed, held_out : Corpus
            The two halves of the same documents, as `Corpus.halves` returns them.
        seen : array-like of bool, of shape (W,), optional
            Words to score. The default scores all.

        Returns
        -------
        Completion
            Nats per token in both conventions, with the numbers of tokens and documents scored.

        Raises
        ------
        InputError
            If the halves do not belong together or to the model, or no document has tokens in both.
        """
        phi = self.topic_word_
        observed, held_out = self._corpus(observed), self._corpus(held_out)
        scored, K = scored_documents(observed, held_out), phi.shape[0]
        active = inactive = n_tokens = 0.0
        for block in document_blocks(scored.size, K):
            rows = scored[block]
            weights = np.asarray(self.expected_weights(observed[rows]), dtype=np.float64)
            counts = held_out[rows].counts
            bursts: dict[str, Any] = {"observed": observed[rows].counts, "strength": self._strength}
            renormalised = weights[:, :K] / weights[:, :K].sum(axis=1, keepdims=True)
            total, tokens = completion_log_likelihood(renormalised, phi, counts, seen=seen, **bursts)
            active += total
            n_tokens += tokens
            rest = self.rest_word_
            inactive += completion_log_likelihood(weights, phi, counts, rest_word=rest, seen=seen, **bursts)[0]
        return Completion.of_sums(active, inactive, n_tokens, int(scored.size))

    def _corpus(self, X: Any) -> Corpus:
        """Make documents a Corpus over the words of the model."""
        corpus = Corpus.from_counts(X)
        check_same_words(self, corpus)
        return corpus


class ForeignTopics(FlatTopics):
    """The topics of a model of another make: of an object with what `FittedTopics` names, and nothing else."""

    def __init__(self, model: FittedTopics) -> None:
        self.model = model
        self.vocabulary_ = model.vocabulary_

    @property
    def topic_word_(self) -> Float:
        """Those of the object."""
        return self.model.topic_word_

    @property
    def topic_weights_(self) -> Float:
        """Those of the object."""
        return self.model.topic_weights_

    @property
    def topic_shares_(self) -> Float:
        """The weights of the object, as shares: nothing else is known of the size of its topics."""
        return shares_of(self.model.topic_weights_)

    @property
    def rest_word_(self) -> Float:
        """That of the object."""
        return self.model.rest_word_

    def expected_weights(self, X: Any) -> Float:
        """Ask the object."""
        return self.model.expected_weights(X)

    def transform(self, X: Any) -> Any:
        """Ask the object."""
        return self.model.transform(X)


def shares_of(tokens: ArrayLike) -> Float:
    """Return the share of each topic in the tokens of all, (K,); without tokens all shares are equal.

    Examples
    --------
    >>> shares_of([6.0, 2.0]).tolist(), shares_of([0.0, 0.0]).tolist()
    ([0.75, 0.25], [0.5, 0.5])
    """
    N = np.asarray(tokens, dtype=np.float64)
    total = N.sum()
    return N / total if total > 0 else np.full(N.size, 1.0 / N.size)


def as_topics(model: FittedTopics) -> FlatTopics:
    """Return a model that can be asked what `FlatTopics` says: itself, or an adapter around a foreign one.

    Parameters
    ----------
    model : fitted model
        Any family, or an object with what `FittedTopics` names.
    """
    return model if isinstance(model, FlatTopics) else ForeignTopics(model)
