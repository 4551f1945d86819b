"""Words: those of documents and of a model, whether they are the same, which are new; the words that describe a topic.

The one order in which words describe a topic is their relevance (Sievert and Shirley, LDAvis: a method for visualizing
and interpreting topics, 2014).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from stickbreak.corpus import Corpus
from stickbreak.corpus.alignment import in_columns, only_numbered
from stickbreak.corpus.csr import assemble_csr
from stickbreak.exceptions import InputError, InvalidCorpus
from stickbreak.fitting.checks import check_whole
from stickbreak.numerics.arrays import Float, Int

RELEVANCE = 0.6
_BLOCK_ELEMENTS = 1 << 22  # doubles of topic weights held at once: 32 MiB
_BLOCK = 64  # words whose largest value bounds what can be among the top words


class HasWords(Protocol):
    """A fitted model of any family."""

    @property
    def vocabulary_(self) -> tuple[str, ...]:
        """The W words."""


def check_same_words(model: HasWords, corpus: Corpus, *, otherwise: str = "") -> None:
    """Refuse a corpus whose columns are not the words of the model.

    Parameters
    ----------
    model : fitted model
        Any family.
    corpus : Corpus
        Documents to be described by the model.
    otherwise : str, default=""
        What else can be done, for the message.

    Raises
    ------
    InvalidCorpus
        If the numbers of words differ, or both have named words and some name differs.
    """
    named = tuple(model.vocabulary_)
    n_words, advice = len(named), f"count the documents with the vocabulary of the model{otherwise}."
    if corpus.n_words != n_words:
        raise InvalidCorpus(f"the corpus has {corpus.n_words} words, but the model was fitted on {n_words}; {advice}")
    if (
        corpus.vocabulary is None
        or corpus.vocabulary is named
        or corpus.vocabulary == named
        or only_numbered(corpus, named)
    ):
        return
    column = next(w for w in range(n_words) if corpus.vocabulary[w] != named[w])
    raise InvalidCorpus(
        f"column {column} is {corpus.vocabulary[column]!r} in the corpus, but {named[column]!r} in the model; {advice}"
    )


def no_documents(words: tuple[str, ...]) -> Corpus:
    """Return a corpus of no documents over the words of a model."""
    nothing = np.zeros(0, np.int32)
    return Corpus(assemble_csr(nothing, nothing, np.zeros(1, np.int32), len(words)), words)


def words_to_show(n: int, given: Sequence[str] | None, known: Sequence[str]) -> Sequence[str]:
    """Return the names of the columns of which the top words are to be shown.

    Parameters
    ----------
    n : int
        Words that are asked for.
    given : sequence of str or None
        Names that are given instead of those of the fit.
    known : sequence of str
        Names of the fit, one for each column.

    Raises
    ------
    InputError
        If n is not a whole number of at least 1, or there is not one name for each column.
    """
    check_whole("n", n, 1)
    if given is None:
        return known
    if isinstance(given, str | bytes) or not isinstance(given, Sequence | np.ndarray) or np.ndim(given) != 1:
        raise InputError(f"vocabulary is {given!r}; give a list of words, one for each column.")
    if len(given) != len(known):
        raise InputError(
            f"vocabulary has {len(given)} words, but the model has {len(known)}; give one word for each column."
        )
    return given


def top_word_indices(topic_word: NDArray[np.float64], n_words: int) -> NDArray[np.intp]:
    """Return the most probable words of each topic, in decreasing order, ties by index.

    Parameters
    ----------
    topic_word : ndarray of shape (n_topics, n_words_total)
        Word probabilities.
    n_words : int
        Length of each list; at most all words.

    Returns
    -------
    ndarray of int, of shape (n_topics, min(n_words, n_words_total))
        Word indices.

    Examples
    --------
    >>> import numpy as np
    >>> top_word_indices(np.array([[0.2, 0.4, 0.2, 0.2]]), 3)
    array([[1, 0, 2]])
    """
    length = min(n_words, topic_word.shape[1])
    top = np.empty((topic_word.shape[0], length), dtype=np.intp)
    for k, row in enumerate(topic_word):
        if length == 0:
            continue
        # Sort only what reaches a bound of the length-th value: all its ties are kept until the stable sort.
        whole = row.size - row.size % _BLOCK
        largest = row[:whole].reshape(-1, _BLOCK).max(axis=1) if whole >= length * _BLOCK else row
        candidates = np.flatnonzero(row >= np.partition(largest, largest.size - length)[largest.size - length])
        top[k] = candidates[np.argsort(-row[candidates], kind="stable")][:length]
    return top


class WordTopics(Protocol):
    """Topics as distributions of words."""

    def word_shares(self) -> Float:
        """Return the share of each word in the tokens of the fit, (W,)."""

    def word_distributions(self, topics: Int) -> Float:
        """Return the word distributions of these topics, (n, W)."""


def relevance(phi: Float, log_shares: Float, weight: float = RELEVANCE) -> Float:
    """Return lambda log phi_kw + (1 - lambda) log(phi_kw / p_w), a row for each topic.             docs/math (Q5)

    Parameters
    ----------
    phi : ndarray of shape (n, W)
        Word distributions.
    log_shares : ndarray of shape (W,)
        log p_w, up to a constant; infinite for words that no document of the fit has: their relevance is minus
        infinity.
    weight : float
        lambda, from 0 (lift) to 1 (probability). 0.6 is what Sievert and Shirley found best for readers.
    """
    known = np.isfinite(log_shares)
    with np.errstate(divide="ignore"):
        return np.where(known, np.log(phi) - (1 - weight) * np.where(known, log_shares, 0.0), -np.inf)


def log_word_shares(topics: WordTopics) -> Float:
    """Return log p_w, with infinity for words that no document of the fit has."""
    shares = topics.word_shares()
    with np.errstate(divide="ignore"):
        return np.where(shares > 0, np.log(shares), np.inf)


def relevant_words(topics: WordTopics, numbers: Int, n_words: int, weight: float = RELEVANCE) -> list[Int]:
    """Return the `n_words` most relevant words of some topics, ties by column.                     docs/math (Q5)"""
    log_shares, found = log_word_shares(topics), []
    for block in document_blocks(numbers.size, log_shares.size):
        found += most_relevant(topics.word_distributions(numbers[block]), log_shares, n_words, weight)
    return found


def most_relevant(phi: Float, log_shares: Float, n_words: int, weight: float = RELEVANCE) -> list[Int]:
    """Return the most relevant words of word distributions, (n, W), ties by column: see `relevance`."""
    ranked = []
    for topic in phi:
        (row,) = relevance(topic[None], log_shares, weight)
        (top,) = top_word_indices(row[None], n_words)
        ranked.append(top[np.isfinite(row[top])].astype(np.int64))
    return ranked


def document_blocks(n_documents: int, n_topics: int) -> Iterator[slice]:
    """Cut documents into consecutive blocks whose topic weights fit in little memory.

    Examples
    --------
    >>> list(document_blocks(3, 10))
    [slice(0, 3, None)]
    """
    size = max(1, _BLOCK_ELEMENTS // max(1, n_topics + 1))
    for start in range(0, n_documents, size):
        yield slice(start, min(start + size, n_documents))


class NamedColumns:
    """The columns of a model that finds words by their names, and to which new ones are added at the end.

    Attributes
    ----------
    words : tuple of str
        In the order of the columns.
    """

    def __init__(self, words: tuple[str, ...]) -> None:
        self.words = words
        self._column_of = {word: column for column, word in enumerate(words)}

    def restrict(self, corpus: Corpus) -> Corpus:
        """Count documents in these words; others are left out.

        Parameters
        ----------
        corpus : Corpus
            Its words are named; where those of the model are only numbered, it has as many.

        Raises
        ------
        InvalidCorpus
            If the model only numbers its words, and the corpus has another number.
        """
        if corpus.vocabulary == self.words or self._by_place(corpus):
            return corpus
        return in_columns(corpus, self._columns(corpus), self.words)

    def joined(self, corpus: Corpus) -> Corpus:
        """Count documents in these words, followed by those of theirs that are new, in their order.

        Parameters
        ----------
        corpus : Corpus
            Words in any order, not all of the model among them.

        Raises
        ------
        InvalidCorpus
            If the model or the corpus only numbers its words, and not both have the same number.
        """
        if corpus.vocabulary == self.words or self._by_place(corpus):
            return corpus
        columns, named = self._columns(corpus), corpus.words
        new = np.flatnonzero(columns < 0)
        columns[new] = len(self.words) + np.arange(new.size)
        return in_columns(corpus, columns, (*self.words, *(named[w] for w in new)))

    def add(self, words: tuple[str, ...]) -> None:
        """Take the words that `joined` returned."""
        for column in range(len(self.words), len(words)):
            self._column_of[words[column]] = column
        self.words = words

    def _columns(self, corpus: Corpus) -> NDArray[np.int64]:
        return np.array([self._column_of.get(word, -1) for word in corpus.words], dtype=np.int64)

    def _by_place(self, corpus: Corpus) -> bool:
        """Tell whether columns are matched by place, as nothing else is known; refuse it if their numbers differ."""
        by_place = only_numbered(corpus, self.words)
        if by_place and corpus.n_words != len(self.words):
            raise InvalidCorpus(
                f"the documents have {corpus.n_words} columns, but the model has {len(self.words)} words, and at least "
                "one of them does not name its words; give every Corpus with its vocabulary."
            )
        return by_place
