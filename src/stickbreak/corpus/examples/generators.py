"""Synthetic collections whose topics are known: bars on a grid, documents of an HDP or of LDA."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike

from stickbreak.corpus.corpus import Corpus
from stickbreak.corpus.vectors import GroupedVectors
from stickbreak.exceptions import InputError
from stickbreak.numerics.arrays import Float, Int

_LEFT_OVER = 1e-6  # mass of the topics that the stick-breaking of planted_hdp never reaches


@dataclass(frozen=True, slots=True, eq=False)
class PlantedTopics:
    """The true parameters of a synthetic collection of D documents, W words and K topics.

    Attributes
    ----------
    topic_word : ndarray of shape (K, W)
        Word distribution of each topic; rows sum to 1.
    document_weights : ndarray of shape (D, K)
        Topic proportions that each document was drawn from; rows sum to 1 (to at most 1 for `planted_hdp`).
    topic_weights : ndarray of shape (K,)
        Share of all tokens that come from each topic.
    """

    topic_word: Float
    document_weights: Float
    topic_weights: Float

    @property
    def n_topics(self) -> int:
        """Number of topics K."""
        return int(self.topic_word.shape[0])


def toy_bars(
    n_documents: int = 1000,
    *,
    size: int = 30,
    n_bars: int = 10,
    tokens: int = 200,
    topics_per_document: tuple[int, int] = (1, 3),
    noise: float = 0.05,
    seed: int = 0,
) -> tuple[Corpus, PlantedTopics]:
    """Draw the toy bars of Hughes, Kim and Sudderth (2015), section 6.1.

    The vocabulary is a grid of size x size words. Half of the topics are horizontal bars, the other half
    vertical ones: the grid is cut into n_bars / 2 bands of rows (6 rows each by default) and as many bands of
    columns. Each band is a topic, uniform on its words. The paper gives neither the width nor the level of
    noise. Here a share `noise` of each bar's mass is spread evenly over the whole vocabulary. A document has a
    uniformly drawn number of different bars, in proportions drawn from Dirichlet(1, ..., 1).

    Parameters
    ----------
    n_documents : int
        D.
    size : int
        Side of the grid, a multiple of n_bars / 2; W = size * size.
    n_bars : int
        K, even.
    tokens : int
        Tokens of each document.
    topics_per_document : tuple of (int, int)
        Smallest and largest number of bars in a document.
    noise : float
        Share of each bar's mass that is spread over all words, from 0 to 1.
    seed : int
        The same seed gives the same collection.

    Returns
    -------
    corpus : Corpus
        Words are named "r0c0" (row and column of the grid) and so on.
    truth : PlantedTopics
        Horizontal bars first.

    Raises
    ------
    InputError
        If the numbers do not fit together.

    Examples
    --------
    >>> corpus, truth = toy_bars(50)
    >>> corpus
    Corpus(50 documents, 900 words, 10000 tokens)
    >>> truth.n_topics
    10
    """
    low, high = topics_per_document
    if n_bars < 2 or n_bars % 2 or size % (n_bars // 2):
        raise InputError(
            f"{n_bars} bars do not fit on a side of {size}; give an even number of bars, half of which divides the side"
        )
    if not 1 <= low <= high <= n_bars or n_documents < 1 or tokens < 1 or not 0 <= noise <= 1:
        raise InputError(
            f"toy_bars cannot draw n_documents={n_documents}, tokens={tokens}, noise={noise}, "
            f"topics_per_document={topics_per_document}; give 1 <= low <= high <= {n_bars} and positive sizes"
        )
    rng = np.random.default_rng(seed)
    band = np.arange(size) // (size // (n_bars // 2))
    rows, columns = np.repeat(band, size), np.tile(band, size)  # of each word
    bars = np.concatenate([np.arange(n_bars // 2)[:, None] == rows, np.arange(n_bars // 2)[:, None] == columns])
    topic_word = (1 - noise) * bars / bars.sum(axis=1, keepdims=True) + noise / size**2
    weights = few_topics(n_documents, n_bars, topics_per_document, rng)
    counts, used = draw(np.full(n_documents, tokens), weights, topic_word, rng)
    vocabulary = tuple(f"r{row}c{column}" for row in range(size) for column in range(size))
    return Corpus.from_counts(counts, vocabulary), PlantedTopics(topic_word, weights, used)


def planted_lda(
    n_documents: int,
    n_words: int,
    *,
    n_topics: int = 10,
    alpha: float = 0.1,
    eta: float = 0.05,
    mean_tokens: float = 100.0,
    seed: int = 0,
) -> tuple[Corpus, PlantedTopics]:
    """Draw documents from latent Dirichlet allocation.

    Parameters
    ----------
    n_documents, n_words, n_topics : int
        D, W, K.
    alpha : float
        Parameter of the symmetric Dirichlet of a document's topic proportions (for each topic).
    eta : float
        Parameter of the symmetric Dirichlet of a topic's words (for each word).
    mean_tokens : float
        Documents have a Poisson number of tokens with this mean; some may be empty.
    seed : int
        The same seed gives the same collection.

    Returns
    -------
    corpus : Corpus
        Words are numbered.
    truth : PlantedTopics

    Raises
    ------
    InputError
        If a number is not positive.
    """
    _require_positive(
        n_documents=n_documents,
        n_words=n_words,
        n_topics=n_topics,
        alpha=alpha,
        eta=eta,
        mean_tokens=mean_tokens,
    )
    rng = np.random.default_rng(seed)
    topic_word = rng.dirichlet(np.full(n_words, eta), size=n_topics)
    weights = rng.dirichlet(np.full(n_topics, alpha), size=n_documents)
    counts, used = draw(rng.poisson(mean_tokens, size=n_documents), weights, topic_word, rng)
    return Corpus.from_counts(counts), PlantedTopics(topic_word, weights, used)


def planted_hdp(
    n_documents: int,
    n_words: int,
    *,
    gamma: float = 5.0,
    alpha: float = 1.0,
    eta: float = 0.05,
    mean_tokens: float = 100.0,
    seed: int = 0,
) -> tuple[Corpus, PlantedTopics]:
    """Draw documents from the hierarchical Dirichlet process (docs/math, the model).

    Corpus weights are broken off a stick, beta ~ GEM(gamma), until less than a millionth is left; a
    document's proportions are Dirichlet(alpha * beta).

    Parameters
    ----------
    n_documents, n_words : int
        D, W.
    gamma : float
        Concentration of the corpus; more gives more topics.
    alpha : float
        Concentration of a document; more gives more topics in each document.
    eta : float
        Parameter of the symmetric Dirichlet of a topic's words (for each word).
    mean_tokens : float
        Documents have a Poisson number of tokens with this mean; some may be empty.
    seed : int
        The same seed gives the same collection.

    Returns
    -------
    corpus : Corpus
        Words are numbered.
    truth : PlantedTopics
        Only the topics that have drawn a token, the largest first.

    Raises
    ------
    InputError
        If a number is not positive.
    """
    _require_positive(
        n_documents=n_documents, n_words=n_words, gamma=gamma, alpha=alpha, eta=eta, mean_tokens=mean_tokens
    )
    rng = np.random.default_rng(seed)
    sticks: list[float] = []
    left = 1.0
    while left > _LEFT_OVER:
        fraction = rng.beta(1.0, gamma)
        sticks.append(left * fraction)
        left *= 1.0 - fraction
    beta = np.array(sticks) / (1.0 - left)
    topic_word = rng.dirichlet(np.full(n_words, eta), size=beta.size)
    weights = _dirichlet_rows(alpha * beta, n_documents, rng)
    counts, used = draw(rng.poisson(mean_tokens, size=n_documents), weights, topic_word, rng)
    order = np.argsort(-used, kind="stable")[: np.count_nonzero(used)]
    return Corpus.from_counts(counts), PlantedTopics(topic_word[order], weights[:, order], used[order])


def few_topics(
    n_documents: int, n_topics: int, topics_per_document: tuple[int, int], rng: np.random.Generator
) -> np.ndarray:
    """Draw a number of topics for each document, which topics, and their proportions, Dirichlet(1, ..., 1)."""
    low, high = topics_per_document
    # The topics of a document are those of its smallest uniforms; its proportions are normalised exponentials.
    rank = rng.random((n_documents, n_topics)).argsort(axis=1).argsort(axis=1)
    weights = rng.standard_exponential((n_documents, n_topics))
    weights[rank >= rng.integers(low, high + 1, size=n_documents)[:, None]] = 0.0
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


def _dirichlet_rows(parameters: np.ndarray, n_rows: int, rng: np.random.Generator) -> np.ndarray:
    """Draw Dirichlet rows whose parameters may be tiny, in logarithms: Gamma(a) = Gamma(a + 1) U^(1/a)."""
    shape = (n_rows, parameters.size)
    logs = np.log(rng.standard_gamma(parameters + 1.0, size=shape))
    logs -= rng.standard_exponential(shape) / parameters
    weights: np.ndarray = np.exp(logs - logs.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


def draw(
    lengths: np.ndarray, weights: np.ndarray, topic_word: np.ndarray, rng: np.random.Generator
) -> tuple[sp.csr_matrix, np.ndarray]:
    """Draw the tokens of all documents."""
    D, K = weights.shape
    n_dk = rng.multinomial(lengths, weights)
    documents: list[np.ndarray] = []
    words: list[np.ndarray] = []
    for k in range(K):
        documents.append(np.repeat(np.arange(D), n_dk[:, k]))
        words.append(rng.choice(topic_word.shape[1], size=documents[-1].size, p=topic_word[k]))
    row, column = np.concatenate(documents), np.concatenate(words)
    ones = np.ones(row.size, dtype=np.int32)
    counts = sp.csr_matrix((ones, (row, column)), shape=(D, topic_word.shape[1]))
    return counts, n_dk.sum(axis=0) / max(row.size, 1)


def _require_positive(**numbers: float) -> None:
    for name, value in numbers.items():
        if not value > 0:
            raise InputError(f"{name} is {value!r}; give a number above 0")


@dataclass(frozen=True, slots=True, eq=False)
class PlantedGaussians:
    """The truth behind synthetic vectors: K components of `dim` dimensions, G groups, N vectors.

    Attributes
    ----------
    means : ndarray of shape (K, dim)
        Means of the components.
    covariances : ndarray of shape (K, dim, dim)
        Covariances of the components.
    group_weights : ndarray of shape (G, K)
        Proportions that each group was drawn from; rows sum to 1.
    weights : ndarray of shape (K,)
        Share of all vectors that come from each component.
    labels : ndarray of int of shape (N,)
        The component of each vector.
    """

    means: Float
    covariances: Float
    group_weights: Float
    weights: Float
    labels: Int

    @property
    def n_components(self) -> int:
        """Number of components K."""
        return len(self.means)


def planted_gaussians(
    n_groups: int = 50,
    n_vectors: int = 100,
    *,
    dim: int = 2,
    n_components: int = 4,
    separation: float = 6.0,
    contrast: float = 3.0,
    zero_mean: bool = False,
    alpha: float = 1.0,
    dtype: DTypeLike = np.float64,
    seed: int = 0,
) -> tuple[GroupedVectors, PlantedGaussians]:
    """Draw groups of vectors that share Gaussian components.

    The weights of a group are Dirichlet(alpha / K, ..., alpha / K). A covariance has random axes; the variances
    along them are drawn between 1 / contrast and contrast, uniformly in their logarithms.

    Parameters
    ----------
    n_groups : int
        G.
    n_vectors : int
        Vectors of each group.
    dim : int
        Dimension of the vectors.
    n_components : int
        K.
    separation : float
        Smallest distance between two means.
    contrast : float
        How far variances may be from 1, as a factor of at least 1. If all means are zero, components differ in nothing
        else; then 30, with several dimensions, makes them distinct.
    zero_mean : bool
        Whether all means are zero.
    alpha : float
        Concentration of a group. Smaller values give fewer components in each group.
    dtype : float32 or float64
        Dtype of the values.
    seed : int
        The same seed gives the same vectors.

    Returns
    -------
    vectors : GroupedVectors
    truth : PlantedGaussians

    Raises
    ------
    InputError
        If a size is not positive.

    Examples
    --------
    >>> vectors, truth = planted_gaussians(10, 20)
    >>> vectors
    GroupedVectors(10 groups, 200 vectors of 2 float64)
    >>> truth.means.shape
    (4, 2)
    """
    if min(n_groups, n_vectors, dim, n_components) < 1 or not alpha > 0 or not contrast >= 1 or separation < 0:
        raise InputError(
            f"planted_gaussians cannot draw n_groups={n_groups}, n_vectors={n_vectors}, dim={dim}, "
            f"n_components={n_components}, alpha={alpha}, contrast={contrast}, separation={separation}; give positive "
            "sizes, and a contrast of 1 or more"
        )
    rng = np.random.default_rng(seed)
    means = np.zeros((n_components, dim)) if zero_mean else _apart(n_components, dim, separation, rng)
    axes = np.linalg.qr(rng.standard_normal((n_components, dim, dim)))[0]
    deviations = contrast ** (rng.uniform(-1.0, 1.0, (n_components, dim)) / 2)
    roots = axes * deviations[:, None, :]
    group_weights = rng.dirichlet(np.full(n_components, alpha / n_components), n_groups)
    labels = np.concatenate([rng.choice(n_components, n_vectors, p=weights) for weights in group_weights])
    normal = rng.standard_normal((labels.size, dim))
    values = np.empty((labels.size, dim), dtype)
    for k in range(n_components):
        values[labels == k] = normal[labels == k] @ roots[k].T + means[k]
    vectors = GroupedVectors.from_values(values, np.arange(n_groups + 1) * n_vectors)
    share = np.bincount(labels, minlength=n_components) / labels.size
    return vectors, PlantedGaussians(means, roots @ np.swapaxes(roots, 1, 2), group_weights, share, labels)


def _apart(n_components: int, dim: int, separation: float, rng: np.random.Generator) -> np.ndarray:
    """Draw means one by one, further out where they come too near to one of the others."""
    means = np.zeros((n_components, dim))
    for k in range(n_components):
        radius = separation
        means[k] = radius * rng.standard_normal(dim)
        while k and np.linalg.norm(means[:k] - means[k], axis=1).min() < separation:
            radius *= 1.1
            means[k] = radius * rng.standard_normal(dim)
    return means
