"""Topic coherence from document co-occurrence (Mimno et al. 2011)."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError
from stickbreak.prediction.kernels import word_pairs as pair_kernels
from stickbreak.prediction.words import top_word_indices


def coherence(topic_word: ArrayLike, corpus: Corpus, n_words: int = 10, eps: float = 1e-12) -> NDArray[np.float64]:
    """Measure how often the top words of each topic occur in the same documents.

    ``sum_{m=2}^{M} sum_{l<m} log[(D(v_m, v_l) + eps) / D(v_l)]`` over the top M words by decreasing
    probability (ties by index), with D the document frequencies in `corpus` (docs/math (D5)). Zero is the best
    possible value; each pair that never occurs together costs ``log eps - log D(v_l)``. A word that occurs in
    no document never occurs together with another. Its D(v_l) is taken as one, so its pairs cost ``log eps`` and
    stay defined.

    Parameters
    ----------
    topic_word : array-like of shape (n_topics, n_words_total)
        Word probabilities, or any scores that order the words of a topic.
    corpus : Corpus
        The reference documents, usually the training corpus.
    n_words : int, default=10
        Number M of top words.
    eps : float, default=1e-12
        Added to the joint document frequency.

    Returns
    -------
    ndarray of shape (n_topics,)
        Coherence, in nats; NaN where a topic has fewer than two words.

    Raises
    ------
    InputError
        If the words of the topics and of the corpus differ in number, or an argument is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> corpus = Corpus.from_counts(np.array([[1, 1, 0], [2, 1, 0], [1, 0, 3]]))
    >>> coherence([[0.5, 0.4, 0.1]], corpus, n_words=2).round(3)  # log(2/3)
    array([-0.405])
    """
    phi = np.asarray(topic_word, dtype=np.float64)
    corpus = Corpus.from_counts(corpus)
    if phi.ndim != 2 or phi.shape[1] != corpus.n_words:
        raise InputError(
            f"topic_word has shape {phi.shape} but the corpus has {corpus.n_words} words; "
            "give one column for each word."
        )
    check_options(n_words, eps)
    return coherence_of_words(top_word_indices(phi, n_words), corpus, eps)


def coherence_of_words(top: NDArray[np.integer], corpus: Corpus, eps: float = 1e-12) -> NDArray[np.float64]:
    """Measure how often given top words occur in the same documents, as `coherence` does.

    Each different pair is counted once, so a hundred thousand topics take only seconds.

    Parameters
    ----------
    top : ndarray of int, of shape (n_topics, M)
        The top words of each topic in order, without duplicates.
    corpus : Corpus
        The reference documents.
    eps : float, default=1e-12
        Added to the joint document frequency.

    Returns
    -------
    ndarray of shape (n_topics,)
        Coherence, in nats; NaN everywhere if M is less than two.

    Raises
    ------
    InputError
        If eps is not positive, or a word is not a column of the corpus.
    """
    check_options(2, eps)
    if top.size and not 0 <= top.min() <= top.max() < corpus.n_words:
        raise InputError(f"top holds columns outside 0 .. {corpus.n_words - 1}; give columns of the corpus.")
    values = np.full(top.shape[0], np.nan)
    if top.shape[1] < 2 or top.shape[0] == 0:
        return values
    occurs, W = corpus.counts.tocsc(), corpus.n_words
    occurs.sort_indices()
    later, earlier = np.tril_indices(top.shape[1], k=-1)  # (m, l) with l < m
    words = top.astype(np.int64)
    pair, place = np.unique(words[:, later] * W + words[:, earlier], return_inverse=True)
    joint = np.empty(pair.size, np.int64)
    pair_kernels.joint_frequencies(occurs.indptr, occurs.indices, pair // W, pair % W, joint)
    single = np.maximum(np.diff(occurs.indptr), 1)
    # docs/math (D5)
    terms: NDArray[np.float64] = np.log((joint + eps) / single[pair % W])[place.reshape(-1, later.size)]
    values[:] = terms.sum(axis=1)
    return values


def check_options(n_words: int, eps: float = 1e-12) -> None:
    """Refuse lists of fewer than two words, and a joint frequency of zero.

    Raises
    ------
    InputError
    """
    if n_words < 2 or not eps > 0:
        raise InputError(f"n_words is {n_words} and eps is {eps}; coherence needs n_words >= 2 and eps > 0.")
