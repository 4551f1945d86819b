"""The joins of topics in a report, by what they cost held-out words or by likeness, and what each join makes."""

from __future__ import annotations

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

from stickbreak.numerics.arrays import Float
from stickbreak.prediction.words import relevance, top_word_indices
from stickbreak.report.data import JoinReport, PathReport
from stickbreak.report.shown import ReportTopics

_JOIN_WORDS, _LABEL_WORDS = 8, 3
_AT_A_GLANCE = 20  # groups
_MOST_AT_A_GLANCE, _LARGEST = 40, 1 / 3  # more of them, where one would have more of the tokens than this


def describe_path(shown: ReportTopics, likeness: Float) -> PathReport | None:
    """Describe the path of a model, or join topics that are alike.

    Parameters
    ----------
    shown : ReportTopics
        All K topics of the model.
    likeness : ndarray of shape (K, K)
        Likeness of all pairs, one on the diagonal, positive semidefinite: 1 minus it is a squared Euclidean distance.

    Returns
    -------
    PathReport or None
        None for a tree, which has groups of its own, and for fewer than three topics without a path.
    """
    if shown.model.tree_ is not None:
        return None
    described = shown.model.described_path(_JOIN_WORDS)
    if described is None or not len(described.linkage):
        return _joined_by_likeness(shown, likeness) if len(shown.numbers) > 2 else None
    joins = _joins(shown, described.linkage, described.words)
    return PathReport(
        scores=tuple(described.scores.tolist()),
        standard_errors=tuple(described.standard_errors.tolist()),
        heights=tuple(described.linkage[:, 2].tolist()),
        joins=joins,
        best=described.best,
        overview=_at_a_glance(joins, shown.shares, described.overview),
    )


def _at_a_glance(joins: tuple[JoinReport, ...], shares: Float, overview: int) -> int:
    """Return the number of groups to read at a glance: more than the overview, where one would have most tokens."""
    K, size = len(shares), shares.tolist()
    alive, largest = set(range(K)), {K: float(shares.max(initial=0.0))}  # by the number of groups
    for i, join in enumerate(joins):
        size.append(size[join.left] + size[join.right])
        alive = alive - {join.left, join.right} | {K + i}
        largest[K - i - 1] = max(size[k] for k in alive) if K - i - 1 <= _MOST_AT_A_GLANCE else 0.0
    enough = (n for n in range(overview, min(_MOST_AT_A_GLANCE, K) + 1) if largest.get(n, 1.0) <= _LARGEST)
    return next(enough, overview)


def _joined_by_likeness(shown: ReportTopics, likeness: Float) -> PathReport:
    """Join topics by Ward's method, which makes no group that swallows all others (Ward 1963)."""
    K = len(shown.numbers)
    distance = np.sqrt(np.maximum(1.0 - likeness, 0.0))
    np.fill_diagonal(distance, 0.0)
    tree = linkage(squareform((distance + distance.T) / 2, checks=False), method="ward")
    heights = tuple(tree[:, 2].tolist())
    joins = _joins(shown, tree)
    return PathReport((), (), heights, joins, best=K, overview=min(K, _AT_A_GLANCE))


def _joins(shown: ReportTopics, tree: Float, words: list[list[str]] | None = None) -> tuple[JoinReport, ...]:
    """Describe what each join makes: by the words that the model gives it, or the most relevant ones of the mixture."""
    phi, log_shares, vocabulary, joins = shown.topic_word, shown.log_word_shares, shown.model.vocabulary_, []
    parts = {k: (max(float(shown.shares[k]), 1e-12), phi[k]) for k in range(len(phi))}
    for i, (left, right) in enumerate(tree[:, :2].astype(int).tolist()):
        (a, first), (b, second) = parts.pop(left), parts.pop(right)
        mixed = (a * first + b * second) / (a + b)
        parts[len(phi) + i] = a + b, mixed
        telling = top_word_indices(relevance(mixed[None], log_shares), _LABEL_WORDS)[0]
        own = (
            [vocabulary[w] for w in top_word_indices(relevance(mixed[None], log_shares), _JOIN_WORDS)[0]]
            if words is None
            else words[i]
        )
        joins.append(JoinReport(left, right, ", ".join(vocabulary[w] for w in telling), tuple(own)))
    return tuple(joins)
