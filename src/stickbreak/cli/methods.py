"""The families behind `fit --method`: a row for each. `model_options.py` makes its options from its estimator."""

from dataclasses import dataclass

__all__ = ["DEFAULT", "GROUPS_OF_METHODS", "METHODS", "Method", "method_of"]


@dataclass(frozen=True, slots=True)
class Method:
    """A family.

    Attributes
    ----------
    estimator : str
        Name in `stickbreak`.
    purpose : str
        What it is for, in one line of help.
    group : str
        The key of `GROUPS_OF_METHODS` under which the help has it.
    data : {"documents", "groups", "vectors"}
        What it is fitted to; a key of `stickbreak.cli.kinds.MATERIALS`.
    uncounted_starts : tuple of str or None
        Values of `init` that do not start with the given number of topics. None stands for the only start of a family
        without that parameter.
    given_number : bool
        Whether the number of topics is set before the fit, not found by it.
    """

    estimator: str
    purpose: str
    group: str = "more"
    data: str = "documents"
    uncounted_starts: tuple[str | None, ...] = ()
    given_number: bool = False


DEFAULT = "topics"
GROUPS_OF_METHODS = {
    "first": "Methods to begin with",
    "more": "For large collections, and for how certain topics are",
    "baseline": "From other papers, to compare with",
    "vectors": "For real vectors in place of words",
}
METHODS = {
    "topics": Method(
        "TopicModel", "finds the number of topics, or takes one; the documents must fit in memory.", "first"
    ),
    "variational": Method(
        "VariationalHDP", "has an objective that compares numbers of topics; can read from disk.", "more"
    ),
    "gibbs": Method(
        "GibbsHDP",
        "shows how certain the number of topics is; samples the posterior, slowly.",
        "more",
        uncounted_starts=("topic-model", "sequential", "single"),
    ),
    "hybrid": Method("HybridHDP", "for many topics, or more documents than fit in memory; reads from disk.", "more"),
    "tree": Method(
        "BackoffTreeTopics",
        "finds a tree of up to millions of topics.",
        "first",
        uncounted_starts=(None,),
        given_number=True,
    ),
    "lda": Method("LDA", "takes the number of topics; variational inference.", "baseline", given_number=True),
    "pachinko": Method(
        "Pachinko", "finds topics in groups that share them; two levels.", "baseline", given_number=True
    ),
    "hierarchical-pachinko": Method(
        "HierarchicalPachinko", "finds topics from general to special; three levels.", "baseline", given_number=True
    ),
    "nested-crp": Method(
        "NestedCRP", "finds a tree of topics from general to special; it grows as documents ask.", "baseline"
    ),
    "nested-hdp": Method(
        "NestedHDP", "finds a tree of topics, of which a document may have several branches.", "baseline"
    ),
    "online-hdp": Method("OnlineHDP", "earlier online methods, to compare with.", "baseline"),
    "split-merge-online": Method("SplitMergeOnlineHDP", "earlier online methods, to compare with.", "baseline"),
    "gaussian-hdp": Method("GaussianHDP", "for real vectors in groups that share components.", "vectors", "groups"),
    "gaussian-mixture": Method("GaussianDPMixture", "for real vectors without groups.", "vectors", "vectors"),
}


def method_of(estimator: str) -> Method | None:
    """Return the family of an estimator; None where the command line has none.

    Parameters
    ----------
    estimator : str
        Name in `stickbreak`.
    """
    return next((method for method in METHODS.values() if method.estimator == estimator), None)
