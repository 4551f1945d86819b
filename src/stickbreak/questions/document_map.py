"""A map of documents: those with similar topic weights lie near each other, and groups of topics name its regions.

The places are a t-SNE embedding (van der Maaten and Hinton 2008, Visualizing data using t-SNE) of the Hellinger
distances of the topic weights. Each document is drawn to its nearest ones, to all of them alike. All documents push
each other apart, by a force that is found on a grid (Linderman et al. 2019, Fast interpolation-based t-SNE). Every sum
runs in one order, so that equal input gives an equal map. The t-SNE of scikit-learn takes several times as long.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import fft, sparse

from stickbreak.exceptions import InputError
from stickbreak.fitting.checks import check_whole
from stickbreak.numerics.arrays import Float, Int
from stickbreak.prediction.topics import FlatTopics
from stickbreak.prediction.words import log_word_shares
from stickbreak.questions.labels import labels_of
from stickbreak.questions.topic_map import affinities, joined_by_likeness, neighbour_map, words_of_joins
from stickbreak.questions.weights import weight_blocks

MOST_DOCUMENTS = 100_000
_MOST_WEIGHTS = 50_000_000  # of all documents and topics, held at once: 200 MB
_MOST_TOPICS, _AT_A_GLANCE, _NAME_WORDS = 300, 20, 3  # topics of a tree; groups; words of a group
_NEIGHBOURS, _STEPS, _EARLY, _EXAGGERATION = 15, 400, 160, 12.0
_FEW, _LEAST_RATE = 30, 10.0  # documents that stay at their start; of learning
_MOST_COMPARED, _CELLS_SEARCHED, _BLOCK = 4_000, 16, 1_000  # documents; cells around each one; rows of a product
_SPACING, _LEAST_GRID, _MOST_GRID = 0.5, 64, 1024  # in units of the kernel; nodes along an axis
_BINS = 48  # along an axis, in which the densest place of a group is looked for

Single = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class MapLevel:
    """Groups of topics at one grain (K topics, G groups).

    Attributes
    ----------
    groups : ndarray of int, of shape (K,)
        The group of each topic; the first one has the most tokens.
    names : tuple of str
    places : ndarray of shape (G, 2)
        Where most documents of the group are.
    sizes : ndarray of int, of shape (G,)
        Documents whose largest topic is in the group.
    """

    groups: Int
    names: tuple[str, ...]
    places: Float
    sizes: Int


@dataclass(frozen=True, slots=True)
class DocumentMap:
    """Documents in the plane (n documents, K topics).

    Attributes
    ----------
    rows : ndarray of int, of shape (n,)
        The documents, in increasing order: all that have a word of the model, or a random sample.
    n_documents : int
        How many have such a word.
    positions : ndarray of shape (n, 2)
        Coordinates, at most 1 in absolute value.
    topics : ndarray of int, of shape (n,)
        The largest topic of each document, by its place among `numbers`.
    numbers : ndarray of int, of shape (K,)
        What the topics are called.
    labels : tuple of str
        Of the topics.
    levels : tuple of MapLevel
        From few groups to all topics; each has about twice as many as the one before.
    """

    rows: Int
    n_documents: int
    positions: Float
    topics: Int
    numbers: Int
    labels: tuple[str, ...]
    levels: tuple[MapLevel, ...]


@dataclass(frozen=True, slots=True)
class MapTopics:
    """What a map needs to know of K topics: numbers, labels, places (K, 2), and their joins."""

    numbers: Int
    labels: tuple[str, ...]
    places: Float
    shares: Float  # (K,) of all tokens
    joins: Float  # (K - 1, 2) or more columns: what is joined, as in SciPy's form
    names: tuple[str, ...]  # of what each join makes
    overview: int  # groups to read at a glance


def document_map(model: FlatTopics, X: Any, n: int = MOST_DOCUMENTS, random_state: int = 0) -> DocumentMap:
    """Place documents in the plane so that those with similar topic weights are near each other.

    Parameters
    ----------
    model : fitted model
        Of a tree the 300 largest leaves are its topics.
    X : Corpus, texts, sparse matrix or array of shape (D, W)
    n : int, default=100000
        Documents, at most; of more, a random sample is shown. Of models with more than 500 topics it is fewer: 5e7
        documents times topics.
    random_state : int, default=0
        Seed of the sample and of the start.

    Raises
    ------
    InputError
        If no document has a word of the model.
    """
    corpus = model._corpus(X)
    most = check_whole("n", n, 1)
    topics = topics_of_map(model)
    rows = np.flatnonzero(np.asarray(corpus.document_lengths) > 0).astype(np.int64)
    chosen = sampled_rows(rows, most, topics.numbers.size, random_state)
    weights = np.empty((chosen.size, topics.numbers.size), dtype=np.float32)
    done = 0
    for block, of_block in weight_blocks(model, corpus, topics.numbers, chosen):
        weights[done : done + block.size] = of_block
        done += block.size
    vectors = model.map_vectors(corpus[chosen])
    return placed_documents(weights, chosen, rows.size, topics, random_state, vectors)


def topics_of_map(model: FlatTopics) -> MapTopics:
    """Gather what a map says of the topics of a model, joined by its path or by the likeness of their words."""
    shown = model.shown_topics(1, most=_MOST_TOPICS)
    phi, log_shares = model.word_distributions(shown.numbers), log_word_shares(model)
    labels = labels_of(model, shown.numbers, model.labels_, (phi, log_shares))
    likeness = affinities(phi)
    path = model.described_path(1) if model.tree_ is None else None
    given: Mapping[int, str] = {}
    if path is None or not len(path.linkage):
        joins, overview = joined_by_likeness(likeness), _AT_A_GLANCE
    else:
        joins, overview, given = path.linkage, path.overview, path.labels
    ranked = words_of_joins(joins, phi, shown.shares, log_shares, _NAME_WORDS)
    names = tuple(given.get(i, ", ".join(model.vocabulary_[w] for w in row)) for i, row in enumerate(ranked))
    return MapTopics(shown.numbers, labels, neighbour_map(likeness), shown.shares, joins, names, overview)


def sampled_rows(rows: Int, most: int, n_topics: int, random_state: int) -> Int:
    """Return all rows, or a sorted random sample of those whose weights fit in memory."""
    most = min(most, max(1, _MOST_WEIGHTS // max(n_topics, 1)))
    if rows.size <= most:
        return rows
    return np.sort(np.random.default_rng(random_state).choice(rows, size=most, replace=False))


def placed_documents(
    weights: Single, rows: Int, n_documents: int, topics: MapTopics, random_state: int, vectors: Float | None = None
) -> DocumentMap:
    """Return the map of documents of which the topic weights are known, (n, K); those without a weight are left out.

    With `vectors` of length one, (n, m), documents whose vectors are similar are near each other.
    """
    from threadpoolctl import threadpool_limits

    known = weights.sum(axis=1) > 0
    rows, weights = rows[known], weights[known]
    if not rows.size:
        raise InputError("no document has a word that the model knows; give documents like those of the fit.")
    root = np.sqrt(weights / weights.sum(axis=1, keepdims=True))
    alike = root if vectors is None else np.asarray(vectors[known], dtype=np.float32)
    with threadpool_limits(1):  # sums of several threads come in any order
        start = np.asarray(np.square(root) @ topics.places, dtype=np.float64)
        near = nearest_documents(alike, min(_NEIGHBOURS, rows.size - 1), random_state)
        positions = embedded(near, start, random_state)
    largest = weights.argmax(axis=1).astype(np.int64)
    levels = tuple(_level(topics, n, positions, largest) for n in _numbers_of_groups(topics))
    return DocumentMap(rows, n_documents, positions, largest, topics.numbers, topics.labels, levels)


def beginning(text: str, most: int) -> str:
    r"""Return the beginning of a text in one line, with a mark where more follows.

    Examples
    --------
    >>> beginning("Dear all,\n  no news.", 9), beginning("Dear\nall", 9)
    ('Dear all,…', 'Dear all')
    """
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most and len(text) <= 4 * most else line[:most].rstrip() + "…"


# ------------------------------------------------------------------------------------------------------- the layout
def nearest_documents(root: Single, n_near: int, random_state: int) -> Int:
    """Return the documents nearest to each, (n, k), not itself, by the Hellinger distance.

    Of many documents, each is compared with those of its cell and of the 15 next ones. Cells are those around random
    documents, about as many as a cell has documents.

    Parameters
    ----------
    root : ndarray of shape (n, K)
        Roots of the topic weights, whose rows have length 1.
    n_near : int
        Number k of them, less than n.
    random_state : int
    """
    n = len(root)
    n_cells = 1 if n <= _MOST_COMPARED else int(np.sqrt(n))
    middles = root[np.random.default_rng(random_state).choice(n, n_cells, replace=False)]
    cell = np.concatenate([(root[i : i + _BLOCK] @ middles.T).argmax(axis=1) for i in range(0, n, _BLOCK)])
    order = np.argsort(cell, kind="stable")
    members = np.split(order, np.searchsorted(cell[order], np.arange(1, n_cells)))
    next_cells = np.argsort(-(middles @ middles.T), axis=1, kind="stable")
    found = np.empty((n, n_near), dtype=np.int64)
    for c, own in enumerate(members):
        sizes = np.cumsum([members[other].size for other in next_cells[c]])
        n_searched = max(_CELLS_SEARCHED, int(np.searchsorted(sizes, n_near + 1)) + 1)
        others = np.sort(np.concatenate([members[other] for other in next_cells[c, :n_searched]]))
        for i in range(0, own.size, _BLOCK):
            rows = own[i : i + _BLOCK]
            likeness = root[rows] @ root[others].T
            at = np.minimum(np.searchsorted(others, rows), others.size - 1)
            likeness[np.arange(rows.size)[others[at] == rows], at[others[at] == rows]] = -1.0
            found[rows] = others[np.argpartition(-likeness, n_near - 1, axis=1)[:, :n_near]] if n_near else 0
    return found


def embedded(near: Int, start: Float, random_state: int) -> Float:
    """Return places in which documents that are near each other stay so, (n, 2), at most 1 in absolute value.

    Parameters
    ----------
    near : ndarray of int, of shape (n, k)
        The nearest documents of each.
    start : ndarray of shape (n, 2)
        Where they begin, at any scale.
    random_state : int
        Of the noise by which documents that begin at the same place differ.
    """
    n = len(near)
    noise = np.random.default_rng(random_state).standard_normal((n, 2))
    spread = float(start.std()) or 1.0
    places = (start - start.mean(axis=0)) / spread + 0.01 * noise
    return _centred(places if n < _FEW else _embedded(near, 1e-4 * places))


def _centred(places: Float) -> Float:
    """Return places around the origin, at most 1 in absolute value."""
    places = places - (places.max(axis=0) + places.min(axis=0)) / 2
    return np.asarray(places / max(float(np.abs(places).max()), 1e-300))


def _embedded(near: Int, places: Float) -> Float:
    """Return where gradient descent with momentum and gains brings documents from these places."""
    n, n_near = near.shape
    ones = np.ones(near.size)
    links = sparse.csr_array((ones, near.ravel(), np.arange(0, near.size + 1, n_near)), shape=(n, n))
    pairs = sparse.coo_array(sparse.triu(links + links.T))  # each pair once
    (one, other), pull = pairs.coords, pairs.data / (2 * near.size)
    speed, gain = np.zeros((n, 2)), np.ones((n, 2))
    for step in range(_STEPS):
        early = step < _EARLY
        apart = places[one] - places[other]
        force = (pull / (1 + np.square(apart).sum(axis=1)))[:, None] * apart * (_EXAGGERATION if early else 1.0)
        drawn = [np.bincount(one, f, n) - np.bincount(other, f, n) for f in force.T]
        slope = np.column_stack(drawn) - repulsion(places)
        gain = np.maximum(np.where((slope > 0) == (speed > 0), gain * 0.8, gain + 0.2), 0.01)
        speed = (0.5 if early else 0.8) * speed - max(n / 3, _LEAST_RATE) * gain * slope
        places = places + speed
        places -= places.mean(axis=0)
    return places


def repulsion(places: Float) -> Float:
    """Return the forces by which documents push each other apart, (n, 2), as shares of the sum over all pairs.

    Each document is spread over the four nodes around it, and what all nodes do to each other is a convolution.
    """
    low = places.min(axis=0)
    span = max(float(np.ptp(places, axis=0).max()), 1e-12)
    side = fft.next_fast_len(2 * int(np.clip(span / _SPACING, _LEAST_GRID, _MOST_GRID)), real=True)
    n_nodes = side // 2
    width = span / (n_nodes - 2)
    scaled = (places - low) / width
    node = scaled.astype(np.int64)
    (x, y), first = (scaled - node).T, node[:, 0] * n_nodes + node[:, 1]
    corners = [first, first + 1, first + n_nodes, first + n_nodes + 1]
    parts = [(1 - x) * (1 - y), (1 - x) * y, x * (1 - y), x * y]
    mass = sum(np.bincount(at, part, n_nodes**2) for at, part in zip(corners, parts, strict=True))
    offset = fft.fftfreq(side, 1 / (side * width))
    kernel = 1 / (1 + offset[:, None] ** 2 + offset**2)
    spectrum = fft.rfft2(np.reshape(mass, (n_nodes, n_nodes)), (side, side))

    def at_documents(kernel: Float) -> Float:
        field = fft.irfft2(spectrum * fft.rfft2(kernel), (side, side))[:n_nodes, :n_nodes].ravel()
        return np.asarray(sum(field[at] * part for at, part in zip(corners, parts, strict=True)))

    pushes = [at_documents(kernel**2 * offset[:, None]), at_documents(kernel**2 * offset)]
    (near_x, far_x), (near_y, far_y) = (((1 - v) ** 2 + v**2, 2 * v * (1 - v)) for v in (x, y))
    own = near_x * near_y + kernel[0, 1] * (far_x * near_y + near_x * far_y) + kernel[1, 1] * far_x * far_y
    total = float((at_documents(kernel) - own).sum())
    return np.column_stack(pushes) / max(total, 1e-12)


# ------------------------------------------------------------------------------------------------- names of regions
def _numbers_of_groups(topics: MapTopics) -> list[int]:
    """Return the numbers of groups from few to all: each twice the one before."""
    K = topics.numbers.size
    found = [min(topics.overview, K)]
    while found[-1] < K:
        found.append(2 * found[-1] if 3 * found[-1] <= K else K)
    return found


def _level(topics: MapTopics, n_groups: int, positions: Float, largest: Int) -> MapLevel:
    """Return the groups that are left when topics are joined to some number, with their names and places."""
    K = topics.numbers.size
    inside = {k: [k] for k in range(K)}
    for i, (left, right) in enumerate(topics.joins[: K - n_groups, :2].astype(int).tolist()):
        inside[K + i] = inside.pop(left) + inside.pop(right)
    clusters = sorted(inside, key=lambda c: -topics.shares[inside[c]].sum())
    groups = np.empty(K, dtype=np.int64)
    for g, c in enumerate(clusters):
        groups[inside[c]] = g
    of_document = groups[largest]
    return MapLevel(
        groups,
        tuple(topics.labels[c] if c < K else topics.names[c - K] for c in clusters),
        np.array([_densest(positions[of_document == g]) for g in range(n_groups)]),
        np.bincount(of_document, minlength=n_groups).astype(np.int64),
    )


def _densest(positions: Float) -> Float:
    """Return the middle of the documents in and around the bin that has most of them; the origin without any."""
    if not len(positions):
        return np.zeros(2)
    place = np.minimum(((positions + 1) * (_BINS / 2)).astype(np.int64), _BINS - 1) + 1
    counts = np.zeros((_BINS + 2, _BINS + 2))
    np.add.at(counts, tuple(place.T), 1.0)
    around = sum(np.roll(counts, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1))
    best = np.array(np.unravel_index(np.argmax(around), counts.shape))
    return np.asarray(positions[(np.abs(place - best) <= 1).all(axis=1)].mean(axis=0))
