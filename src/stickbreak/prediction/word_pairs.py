"""How often the top words of topics occur together: in documents, or in windows of texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Self

import numpy as np
from numpy.typing import NDArray

from stickbreak.corpus import Corpus
from stickbreak.corpus.phrases import TokenSequences
from stickbreak.corpus.text import token_sequences
from stickbreak.corpus.text_settings import TextOptions
from stickbreak.exceptions import InputError
from stickbreak.fitting.checks import check_whole
from stickbreak.numerics.arrays import Float, Int
from stickbreak.prediction.kernels import word_pairs as kernels

__all__ = ["EPSILON", "WordPairs", "check_window", "mean_npmi", "npmi_of_words", "word_sequences"]

EPSILON = 1e-12
_BLOCK = 1 << 24  # pairs of words that are counted at once


@dataclass(frozen=True, slots=True)
class WordPairs:
    """Occurrences of the top words of topics in units: documents, or windows of texts.

    Attributes
    ----------
    together : ndarray of int64, of shape (K, M, M)
        Units that hold both words; on the diagonal those that hold the word.
    n_units : int
        Number of units.
    """

    together: Int
    n_units: int

    @classmethod
    def in_documents(cls, top: NDArray[np.integer], corpus: Corpus) -> Self:
        """Count documents.

        Parameters
        ----------
        top : ndarray of int, of shape (K, M)
            The top words of each topic: columns of the corpus.
        corpus : Corpus
        """
        (K, M), W, occurs = top.shape, corpus.n_words, corpus.counts.tocsc()
        occurs.sort_indices()
        words = top.astype(np.int64)
        first, second = np.tril_indices(M)
        pair, place = np.unique(words[:, first] * W + words[:, second], return_inverse=True)
        joint = np.empty(pair.size, np.int64)
        kernels.joint_frequencies(occurs.indptr, occurs.indices, pair // W, pair % W, joint)
        together = np.zeros((K, M, M), np.int64)
        together[:, first, second] = together[:, second, first] = joint[place.reshape(K, first.size)]
        return cls(together, corpus.n_documents)

    @classmethod
    def in_windows(
        cls, top: Int, words: Sequence[str], texts: TokenSequences, width: int, *, as_gensim: bool = False
    ) -> Self:
        """Count windows of neighbouring words.

        Parameters
        ----------
        top : ndarray of int, of shape (K, M)
            The top words of each topic: places in `words`.
        words : sequence of str
        texts : TokenSequences
            Texts with the words in their order.
        width : int
            Words in a window. A shorter text is one window.
        as_gensim : bool, default=False
            Forget a word when one of its places leaves the window, as gensim 4.4 does.
        """
        (K, M), number = top.shape, {word: i for i, word in enumerate(texts.words)}
        found = np.array([number.get(words[w], -1) for w in top.ravel().tolist()], np.int64)
        listed = np.flatnonzero(found >= 0)
        listed = listed[np.argsort(found[listed], kind="stable")]
        relevant, start = np.unique(found[listed], return_index=True)
        renamed = np.full(len(texts.words) + 1, -1, np.int32)  # the last one is that of places between words
        renamed[relevant] = np.arange(relevant.size)
        real = texts.ids >= 0
        starts = np.concatenate(([0], np.cumsum(real)))[texts.starts]
        together = np.zeros((K, M, M), np.int64)
        n_units = kernels.count_windows(
            renamed[texts.ids[real]],
            starts,
            width,
            np.append(start, listed.size),
            listed // M,
            listed % M,
            together,
            as_gensim,
        )
        return cls(together, int(n_units))

    def npmi(self) -> Float:
        """Return the normalised pointwise mutual information of each pair, (K, M, M).                docs/math (D7)

        It is zero where a word occurs in no unit, and where both are in all of them: such a pair says nothing.
        """
        n = max(self.n_units, 1)
        single = np.diagonal(self.together, axis1=1, axis2=2) / n
        joint, apart = self.together / n, single[:, :, None] * single[:, None, :]
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.log((joint + EPSILON) / apart) / -np.log(joint + EPSILON)  # (D7)
        return np.where((apart > 0) & (joint < 1), found, 0.0)


def npmi_of_words(top: NDArray[np.integer], corpus: Corpus) -> Float:
    """Return the mean NPMI of given words of each topic, (K,), in blocks of topics: trees have a million. (D7)

    Parameters
    ----------
    top : ndarray of int, of shape (K, M)
        Columns of the corpus.
    corpus : Corpus
    """
    K, M = top.shape
    if M < 2:
        return np.full(K, np.nan)
    block = max(1, _BLOCK // (M * M))
    found = [mean_npmi(WordPairs.in_documents(top[k : k + block], corpus)) for k in range(0, K, block)]
    return np.concatenate(found) if found else np.empty(0)


def mean_npmi(pairs: WordPairs) -> Float:
    """Return the mean over the pairs of different words of each topic, (K,).                       docs/math (D7)

    Parameters
    ----------
    pairs : WordPairs
    """
    M = pairs.together.shape[1]
    if M < 2:
        return np.full(pairs.together.shape[0], np.nan)
    later, earlier = np.tril_indices(M, k=-1)
    found: Float = pairs.npmi()[:, later, earlier].mean(axis=1)
    return found


def word_sequences(texts: Iterable[str] | Iterable[Sequence[str]], options: TextOptions | None) -> TokenSequences:
    """Return texts as sequences of words: cut as options say, or as they were cut already.

    Parameters
    ----------
    texts : iterable of str, or of sequences of str
    options : TextOptions or None
        How a text becomes words. None: the defaults.

    Raises
    ------
    InputError
        If a text is neither a string nor a sequence of strings.
    """
    rest = iter(texts)
    beginning = next(rest, None)
    every = rest if beginning is None else chain([beginning], rest)
    if beginning is None or isinstance(beginning, str):
        return _with_phrases(token_sequences(map(_checked_text, every), options or TextOptions()), options)
    return TokenSequences.of(every, _checked_words)  # type: ignore[arg-type]


def check_window(window: int) -> int:
    """Refuse a window of fewer than two words.

    Raises
    ------
    InputError
    """
    return check_whole("window", window, 2)


def _with_phrases(texts: TokenSequences, options: TextOptions | None) -> TokenSequences:
    """Join the words of the phrases that options name."""
    known = () if options is None or not isinstance(options.phrases, tuple) else options.phrases
    return texts.joined(phrase.split() for phrase in known)


def _checked_text(text: object) -> str:
    if not isinstance(text, str):
        raise InputError(f"a text is {text!r:.60}, but the first one is a string; give strings only.")
    return text


def _checked_words(words: object) -> Iterable[str]:
    if isinstance(words, str) or not isinstance(words, Sequence) or not all(isinstance(word, str) for word in words):
        raise InputError(f"a text is {words!r:.60}; give strings, or a list of words for each text.")
    return words
