"""Scores of topics that papers report: NPMI, C_V, diversity, exclusivity."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stickbreak.corpus import Corpus
from stickbreak.corpus.text_settings import TextOptions
from stickbreak.exceptions import InputError
from stickbreak.fitting.checks import check_whole
from stickbreak.numerics.arrays import Float, Int
from stickbreak.prediction.word_pairs import WordPairs, check_window, mean_npmi, npmi_of_words, word_sequences
from stickbreak.prediction.words import top_word_indices

DIVERSITY_WORDS = 25  # top words (Dieng, Ruiz, Blei 2020)
WINDOW, NPMI_WINDOW = 110, 10  # words, of C_V and of C_NPMI (Röder et al. 2015)


def npmi(topic_word: ArrayLike, corpus: Any, n_words: int = 10) -> Float:
    """Return the mean normalised pointwise mutual information of the top words of each topic.       docs/math (D7)

    A pair of words scores 1 where neither occurs without the other, 0 where they occur together by chance, and less
    where they avoid each other (Lau, Newman, Baldwin 2014). Documents count, not windows.

    Parameters
    ----------
    topic_word : array-like of shape (n_topics, n_words_total)
        Word probabilities, or any scores that order the words of a topic.
    corpus : Corpus
        The documents: of the fit, held-out ones, or a reference, counted in the same words.
    n_words : int, default=10
        Number of top words.

    Returns
    -------
    ndarray of shape (n_topics,)
        From -1 to 1; NaN for topics of a single word.

    Raises
    ------
    InputError
        If the words of the topics and of the corpus differ in number, or n_words is less than 2.

    Examples
    --------
    >>> import numpy as np
    >>> corpus = Corpus.from_counts(np.array([[1, 1, 0], [2, 1, 0], [0, 0, 3]]))
    >>> npmi([[0.5, 0.4, 0.1], [0.5, 0.1, 0.4]], corpus, n_words=2).round(2)
    array([ 1.  , -0.95])
    """
    corpus = Corpus.from_counts(corpus)
    return npmi_of_words(top_words_of_table(topic_word, n_words, corpus.n_words), corpus)


def c_v(
    topic_word: ArrayLike,
    texts: Iterable[str] | Iterable[Sequence[str]],
    words: Sequence[str],
    *,
    n_words: int = 10,
    window: int = WINDOW,
    options: TextOptions | None = None,
    as_gensim: bool = False,
) -> Float:
    """Return the coherence C_V of each topic (Röder, Both, Hinneburg 2015).                         docs/math (D8)

    Each top word is described by its NPMI with all of them, counted in windows of neighbouring words. The score is the
    mean cosine between the description of a word and the sum over the top words.

    Parameters
    ----------
    topic_word : array-like of shape (n_topics, n_words_total)
        Word probabilities, or any scores that order the words of a topic.
    texts : iterable of str, or of sequences of str
        The texts, or the words of each text in their order.
    words : sequence of str of length n_words_total
        The words of the columns, such as ``model.vocabulary_``.
    n_words : int, default=10
        Number of top words.
    window : int, default=110
        Words in a window. A shorter text is one window.
    options : TextOptions, optional
        How a text becomes words, such as ``model.text_options_``. The default is that of `count_texts`.
    as_gensim : bool, default=False
        Count windows as gensim 4.4 does, which forgets a word when one of its places leaves the window.

    Returns
    -------
    ndarray of shape (n_topics,)
        From about 0 to 1; NaN for topics of a single word.

    Raises
    ------
    InputError
        If the shapes do not fit, an argument is out of range, or a text is neither a string nor words.

    Examples
    --------
    >>> c_v([[0.5, 0.4, 0.1]], [["cat", "dog"], ["cat", "dog"], ["car"]], ["cat", "dog", "car"], n_words=2)
    array([1.])
    """
    top = top_words_of_table(topic_word, n_words, len(words))
    sequences = word_sequences(texts, options)
    return mean_cosine(WordPairs.in_windows(top, words, sequences, check_window(window), as_gensim=as_gensim))


def c_npmi(
    topic_word: ArrayLike,
    texts: Iterable[str] | Iterable[Sequence[str]],
    words: Sequence[str],
    *,
    n_words: int = 10,
    window: int = NPMI_WINDOW,
    options: TextOptions | None = None,
    as_gensim: bool = False,
) -> Float:
    """Return the mean NPMI of the top words of each topic in windows of neighbouring words.   docs/math (D7), (D8)

    `npmi` is the same for whole documents. Röder, Both and Hinneburg (2015) call this C_NPMI.

    Parameters
    ----------
    topic_word, texts, words, n_words, options, as_gensim
        As in `c_v`.
    window : int, default=10
        Words in a window. A shorter text is one window.

    Returns
    -------
    ndarray of shape (n_topics,)
        From -1 to 1; NaN for topics of a single word.

    Raises
    ------
    InputError
        As `c_v` does.

    Examples
    --------
    >>> c_npmi([[0.5, 0.4, 0.1]], [["cat", "dog"], ["cat", "dog"], ["car"]], ["cat", "dog", "car"], n_words=2)
    array([1.])
    """
    top = top_words_of_table(topic_word, n_words, len(words))
    sequences = word_sequences(texts, options)
    return mean_npmi(WordPairs.in_windows(top, words, sequences, check_window(window), as_gensim=as_gensim))


def mean_cosine(pairs: WordPairs) -> Float:
    """Return C_V from counts of windows, (K,).                                                      docs/math (D8)

    Parameters
    ----------
    pairs : WordPairs
    """
    K, M = pairs.together.shape[:2]
    if M < 2:
        return np.full(K, np.nan)
    v = pairs.npmi()  # row i describes word i
    whole = v.sum(axis=1)
    length = np.linalg.norm(v, axis=2) * np.linalg.norm(whole, axis=1)[:, None]
    cosine = np.einsum("kij,kj->ki", v, whole) / np.where(length > 0, length, 1.0)
    found: Float = cosine.mean(axis=1)
    return found


def topic_diversity(topic_word: ArrayLike, n_words: int = DIVERSITY_WORDS) -> float:
    """Return the share of different words among the top words of all topics (Dieng, Ruiz, Blei 2020).

    Parameters
    ----------
    topic_word : array-like of shape (n_topics, n_words_total)
        Word probabilities, or any scores that order the words of a topic.
    n_words : int, default=25
        Number of top words.

    Returns
    -------
    float
        From 1 / n_topics (all topics have the same top words) to 1 (no word is in two).

    Raises
    ------
    InputError
        If topic_word is not a table, or n_words is less than 1.

    Examples
    --------
    >>> topic_diversity([[0.6, 0.3, 0.1], [0.6, 0.1, 0.3]], n_words=2)
    0.75
    """
    return diversity_of_words(top_words_of_table(topic_word, n_words, None, least=1))


def diversity_of_words(top: NDArray[np.integer]) -> float:
    """Return the share of different words among given words; NaN if there are none.

    Parameters
    ----------
    top : ndarray of int, of shape (K, M)
    """
    return float(np.unique(top).size / top.size) if top.size else float("nan")


def mean_defined(values: Float) -> float:
    """Return the mean of the numbers that are not NaN; NaN if there are none.

    Parameters
    ----------
    values : ndarray
    """
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if defined.size else float("nan")


def exclusivity(topic_word: ArrayLike, n_words: int = 10) -> Float:
    """Return how much the top words of each topic belong to it alone.

    It is the mean over the top words of p(word | topic) / Σ p(word | other topic or this one). Words that no topic has
    are left out.

    Parameters
    ----------
    topic_word : array-like of shape (n_topics, n_words_total)
        Word probabilities.
    n_words : int, default=10
        Number of top words.

    Returns
    -------
    ndarray of shape (n_topics,)
        From 1 / n_topics (all topics are alike) to 1 (no other topic has these words).

    Raises
    ------
    InputError
        If topic_word is not a table, or n_words is less than 1.

    Examples
    --------
    >>> exclusivity([[0.9, 0.1, 0.0], [0.3, 0.0, 0.7]], n_words=1)
    array([0.75, 1.  ])
    """
    phi = np.asarray(topic_word, dtype=np.float64)
    top = top_words_of_table(phi, n_words, None, least=1)
    total = phi.sum(axis=0)[top]
    share = np.divide(np.take_along_axis(phi, top, axis=1), total, out=np.zeros(top.shape), where=total > 0)
    found: Float = share.sum(axis=1) / (total > 0).sum(axis=1)
    return found


def top_words_of_table(topic_word: ArrayLike, n_words: int, n_columns: int | None, least: int = 2) -> Int:
    """Return the top words, (K, M)."""
    phi = np.asarray(topic_word, dtype=np.float64)
    if phi.ndim != 2 or (n_columns is not None and phi.shape[1] != n_columns):
        asked = "a table of topics and words" if n_columns is None else f"a column for each of the {n_columns} words"
        raise InputError(f"topic_word has shape {phi.shape}; give {asked}.")
    return top_word_indices(phi, check_whole("n_words", n_words, least)).astype(np.int64)
