"""The families behind `fit --method`: a row for each. `model_options.py` makes its options from its estimator."""

from dataclasses import dataclass

__all__ = ["DEFAULT", "METHODS", "Method", "method_of"]


@dataclass(frozen=True, slots=True)
class Method:
    """A family.

    Attributes
    ----------
    estimator : str
        Name in `stickbreak`.
    purpose : str
        What it is for, in one line of help.
    data : {"documents", "groups", "vectors"}
        What it is fitted to; a key of `stickbreak.cli.kinds.MATERIALS`.
    uncounted_starts : tuple of str or None
        Values of `init` that do not start with the given number of topics. None stands for the only start of a family
        without that parameter.
    given_number : bool
        Whether the user says how many topics there are.
    """

    estimator: str
    purpose: str
    data: str = "documents"
    uncounted_starts: tuple[str | None, ...] = ()
    given_number: bool = False


DEFAULT = "collapsed"
METHODS = {
    "collapsed": Method("CollapsedHDP", "predicts well and fast; the documents must fit in memory."),
    "variational": Method("VariationalHDP", "has an objective that compares numbers of topics; can read from disk."),
    "gibbs": Method(
        "GibbsHDP",
        "shows how certain the number of topics is; samples the posterior, slowly.",
        uncounted_starts=("sequential", "single"),
    ),
    "hybrid": Method("HybridHDP", "for many topics, or more documents than fit in memory; reads from disk."),
    "tree": Method("BackoffTreeTopics", "finds a tree of up to millions of topics.", uncounted_starts=(None,)),
    "lda": Method("LDA", "for a number of topics that you give; quick, whatever the number.", given_number=True),
    "pachinko": Method("Pachinko", "finds topics in groups that share them; two levels."),
    "hierarchical-pachinko": Method("HierarchicalPachinko", "finds topics from general to special; three levels."),
    "nested-crp": Method("NestedCRP", "finds a tree of topics from general to special; it grows as documents ask."),
    "nested-hdp": Method("NestedHDP", "finds a tree of topics, of which a document may have several branches."),
    "online-hdp": Method("OnlineHDP", "earlier online methods, to compare with."),
    "split-merge-online": Method("SplitMergeOnlineHDP", "earlier online methods, to compare with."),
    "gaussian-hdp": Method("GaussianHDP", "for real vectors in groups that share components.", "groups"),
    "gaussian-mixture": Method("GaussianDPMixture", "for real vectors without groups.", "vectors"),
}


def method_of(estimator: str) -> Method | None:
    """Return the family of an estimator; None where the command line has none.

    Parameters
    ----------
    estimator : str
        Name in `stickbreak`.
    """
    return next((method for method in METHODS.values() if method.estimator == estimator), None)
