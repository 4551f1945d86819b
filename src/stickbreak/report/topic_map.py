"""Which topics use similar words: nearest topics and a map in the plane."""

import numpy as np
from numpy.typing import NDArray


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
    values, vectors = np.linalg.eigh(-0.5 * centred)
    for axis in range(2):
        value, vector = values[-1 - axis], vectors[:, -1 - axis]
        if value > 1e-12:
            sign = np.sign(vector[np.argmax(np.abs(vector))])
            positions[:, axis] = sign * vector * np.sqrt(value)
    extent = np.abs(positions).max()
    return positions / extent if extent > 0 else positions
