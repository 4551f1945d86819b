"""The joins of topics in a report: scores of every number of topics, and the words of what each join makes."""

from stickbreak.prediction.topics import FlatTopics
from stickbreak.report.data import JoinReport, PathReport

_JOIN_WORDS = 8


def describe_path(model: FlatTopics) -> PathReport | None:
    """Describe the path of a model, if it has one with joins.

    Parameters
    ----------
    model : FlatTopics
    """
    described = model.described_path(_JOIN_WORDS)
    if described is None or not len(described.linkage):
        return None
    joins = zip(described.linkage[:, :2].astype(int).tolist(), described.words, strict=True)
    return PathReport(
        scores=tuple(described.scores.tolist()),
        standard_errors=tuple(described.standard_errors.tolist()),
        heights=tuple(described.linkage[:, 2].tolist()),
        joins=tuple(JoinReport(left, right, tuple(words)) for (left, right), words in joins),
        best=described.best,
        fewest=described.fewest,
        overview=described.overview,
    )
