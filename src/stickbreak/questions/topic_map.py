"""Which topics use similar words: nearest topics, a map in the plane, and joins of topics with their words."""

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import linkage
from scipy.linalg import eigh
from scipy.spatial.distance import squareform

from stickbreak.prediction.words import relevance, top_word_indices

_FEW, _MOST_EXACT = 8, 400  # topics
_NEIGHBOURS, _STEPS = 15.0, 500


def affinities(topic_word: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the Bhattacharyya coefficients of all pairs of topics, ``sum_w sqrt(phi_kw phi_lw)``.

    Parameters
    ----------
    topic_word : ndarray of shape (n_topics, n_words)
        Word distributions; rows sum to one.

    Returns
    -------
    ndarray of shape (n_topics, n_topics)
        Between 0 (no common word) and 1 (equal).
    """
    root = np.sqrt(np.maximum(topic_word, 0.0))
    product: NDArray[np.float64] = np.clip(root @ root.T, 0.0, 1.0)
    return product


def in_documents(together: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the cosines of the shares of all pairs of topics over the documents.

    Parameters
    ----------
    together : ndarray of shape (n_topics, n_topics)
        Sums of products of the shares of two topics.

    Returns
    -------
    ndarray of shape (n_topics, n_topics)
        Between 0 (never in one document) and 1 (always in equal proportion). A topic without a share is like itself.
    """
    length = np.sqrt(np.diag(together))
    with np.errstate(invalid="ignore", divide="ignore"):
        cosines = np.nan_to_num(together / np.outer(length, length), posinf=0.0)
    np.fill_diagonal(cosines, 1.0)
    return np.clip(cosines, 0.0, 1.0)


def most_similar(affinity: NDArray[np.float64], n_similar: int) -> list[tuple[int, ...]]:
    """Return the topics most similar to each topic, itself left out, most similar first.

    Parameters
    ----------
    affinity : ndarray of shape (n_topics, n_topics)
        As from `affinities`.
    n_similar : int
        Topics to return for each.

    Returns
    -------
    list of tuple of int
        Indices of topics; ties by index.

    Examples
    --------
    >>> import numpy as np
    >>> most_similar(np.array([[1.0, 0.2, 0.4], [0.2, 1.0, 0.1], [0.4, 0.1, 1.0]]), 1)
    [(2,), (0,), (0,)]
    """
    others = affinity.copy()
    np.fill_diagonal(others, -np.inf)
    length = min(n_similar, affinity.shape[0] - 1)
    order = np.argsort(-others, axis=1, kind="stable")[:, :length]
    return [tuple(int(k) for k in row) for row in order]


def map_positions(affinity: NDArray[np.float64]) -> NDArray[np.float64]:
    """Place topics in the plane by classical scaling of their Hellinger distances.

    The squared distance of two topics is ``1 - affinity`` (Torgerson 1952, Multidimensional scaling). The
    signs of the axes are fixed (the largest coordinate of each is positive), so that equal input gives an
    equal map.

    Parameters
    ----------
    affinity : ndarray of shape (n_topics, n_topics)
        As from `affinities`.

    Returns
    -------
    ndarray of shape (n_topics, 2)
        Coordinates, at most 1 in absolute value; zeros where there is nothing to spread.
    """
    n_topics = affinity.shape[0]
    positions = np.zeros((n_topics, 2))
    if n_topics < 2:
        return positions
    squared = 1.0 - affinity
    centred = squared - squared.mean(axis=0) - squared.mean(axis=1)[:, None] + squared.mean()
    values, vectors = eigh(-0.5 * (centred + centred.T) / 2, subset_by_index=[n_topics - 2, n_topics - 1])
    for axis in range(2):
        value, vector = values[-1 - axis], vectors[:, -1 - axis]
        if value > 1e-12:
            sign = np.sign(vector[np.argmax(np.abs(vector))])
            positions[:, axis] = sign * vector * np.sqrt(value)
    extent = np.abs(positions).max()
    return positions / extent if extent > 0 else positions


def neighbour_map(affinity: NDArray[np.float64]) -> NDArray[np.float64]:
    """Place topics in the plane so that the nearest stay near: t-SNE of the distances ``sqrt(1 - affinity)``.

    It starts from `map_positions`, which also stands for it where there are few topics (van der Maaten and Hinton 2008,
    Visualizing data using t-SNE). All topics count alike: the place of none depends on its size.

    Parameters
    ----------
    affinity : ndarray of shape (n_topics, n_topics)
        As from `affinities` or `in_documents`, or a mean of both.

    Returns
    -------
    ndarray of shape (n_topics, 2)
        Coordinates, at most 1 in absolute value.
    """
    start, n_topics = map_positions(affinity), len(affinity)
    if n_topics < _FEW or not start.std(axis=0).all():
        return start
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    embedding = TSNE(
        metric="precomputed",
        init=(1e-4 * start / start[:, 0].std()).astype(np.float32),
        perplexity=min(_NEIGHBOURS, (n_topics - 1) / 3),
        learning_rate="auto",
        max_iter=_STEPS,
        method="exact" if n_topics <= _MOST_EXACT else "barnes_hut",
        random_state=0,
    )
    distances = np.sqrt(np.maximum(1.0 - affinity, 0.0))
    with threadpool_limits(1):  # sums of several threads come in any order
        found = np.asarray(embedding.fit_transform(distances), dtype=np.float64)
    found -= (found.max(axis=0) + found.min(axis=0)) / 2
    return np.asarray(found / np.abs(found).max())


def joined_by_likeness(likeness: NDArray[np.float64]) -> NDArray[np.float64]:
    """Join topics by Ward's method, which makes no group that swallows all others (Ward 1963).

    Parameters
    ----------
    likeness : ndarray of shape (n_topics, n_topics)
        As from `affinities`; one on the diagonal.

    Returns
    -------
    ndarray of shape (n_topics - 1, 4)
        The joins in SciPy's form; none for a single topic.
    """
    if len(likeness) < 2:
        return np.empty((0, 4))
    distance = np.sqrt(np.maximum(1.0 - likeness, 0.0))
    np.fill_diagonal(distance, 0.0)
    return np.asarray(linkage(squareform((distance + distance.T) / 2, checks=False), method="ward"))


def words_of_joins(
    joins: NDArray[np.float64],
    topic_word: NDArray[np.float64],
    shares: NDArray[np.float64],
    log_word_shares: NDArray[np.float64],
    n_words: int,
) -> list[list[int]]:
    """Return the most relevant words of what each join makes: the mixture of its topics.          docs/math (Q5)

    Parameters
    ----------
    joins : ndarray of shape (n_topics - 1, 4)
        In SciPy's form.
    topic_word : ndarray of shape (n_topics, n_words)
    shares : ndarray of shape (n_topics,)
        Of the topics in all tokens.
    log_word_shares : ndarray of shape (n_words,)
        As `prediction.words.log_word_shares` returns them.
    n_words : int
        Words of each.
    """
    parts = {k: (max(float(shares[k]), 1e-12), topic_word[k]) for k in range(len(topic_word))}
    found = []
    for i, (left, right) in enumerate(joins[:, :2].astype(int).tolist()):
        (a, first), (b, second) = parts.pop(left), parts.pop(right)
        mixed = (a * first + b * second) / (a + b)
        parts[len(topic_word) + i] = a + b, mixed
        found.append([int(w) for w in top_word_indices(relevance(mixed[None], log_word_shares), n_words)[0]])
    return found
