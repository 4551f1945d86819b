"""The families behind `fit --method`: which estimator, and which options are theirs alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stickbreak.exceptions import InputError

__all__ = ["DEFAULT", "METHODS", "STARTS", "Method", "method_of", "parameters_of"]


@dataclass(frozen=True, slots=True)
class Method:
    """A family.

    Attributes
    ----------
    estimator : str
        Name in `stickbreak`.
    purpose : str
        What it is for, in one line of help.
    options : dict of str to str
        Parameter -> option, for the options that not every family has.
    starts : tuple of str
        Values of --init.
    counted_starts : tuple of str or None
        Those of them that begin with the number of topics that is given; None: the one start of the method does.
    default_start : str or None
        None for a method that knows one start only.
    data : {"documents", "groups", "vectors"}
        What it is fitted to; a key of `stickbreak.cli.kinds.MATERIALS`.
    """

    estimator: str
    purpose: str
    options: Mapping[str, str]
    starts: tuple[str, ...]
    counted_starts: tuple[str | None, ...]
    default_start: str | None
    data: str = "documents"

    @property
    def parameter_of_topics(self) -> str:
        """The parameter behind --topics."""
        return "n_topics" if self.data == "documents" else "n_components"


_LEARN = {"learn": "--learn", "alpha": "--alpha"}
_WORDS = {**_LEARN, "eta": "--eta"}
_HDP = {"gamma": "--gamma", "init": "--init"}
_STEPS = {"n_laps": "--laps", "learning_decay": "--learning-decay", "learning_offset": "--learning-offset"}
_LAPS = {**_STEPS, "n_batches": "--batches", "schedule": "--schedule", "moves": "--moves"}
_GAUSSIAN = {
    **_LAPS,
    "gamma": "--gamma",
    "likelihood": "--likelihood",
    "dtype": "--precision",
}
_SEEDING = "seeding"  # the one start of vectors by name
_FOUND = ("collapsed", "near-uniform", "documents", "anchors")  # topics that are found before the fit
METHODS = {
    "collapsed": Method(
        "CollapsedHDP",
        "predicts well, and soon; for what fits in memory.",
        {
            **_WORDS,
            "gamma": "--gamma",
            "n_laps": "--laps",
            "merge_laps": "--merge-laps",
            "held_back": "--held-back",
            "smallest_share": "--smallest-share",
        },
        (),
        ("random",),
        "random",
    ),
    "variational": Method(
        "VariationalHDP",
        "an objective that compares numbers of topics; from disk.",
        {
            **_HDP,
            **_WORDS,
            "bound": "--bound",
            "document_weights": "--document-weights",
            **_LAPS,
            "stick_rule": "--stick-rule",
            "delete_documents": "--delete-documents",
            "restarts": "--restarts",
        },
        _FOUND,
        _FOUND,
        "collapsed",
    ),
    "gibbs": Method(
        "GibbsHDP",
        "samples of the posterior: how sure is the number of topics; slow.",
        {
            **_HDP,
            **_WORDS,
            "n_laps": "--laps",
            "burn_in": "--burn-in",
            "thin": "--thin",
            "n_chains": "--chains",
            "n_shards": "--shards",
            "representation": "--representation",
            "split_merge_trials": "--split-merge",
            "estimate": "--estimate",
        },
        ("sequential", "random", "single", *_FOUND),
        ("random", *_FOUND),
        "random",
    ),
    "hybrid": Method(
        "HybridHDP",
        "many topics, or more documents than memory holds; from disk.",
        {
            **_WORDS,
            **_HDP,
            **_STEPS,
            "batch_size": "--batch-size",
            "burn_in_sweeps": "--burn-in-sweeps",
            "saved_sweeps": "--saved-sweeps",
            "sampler": "--sampler",
        },
        ("random", *_FOUND),
        ("random", *_FOUND),
        "collapsed",
    ),
    "tree": Method(
        "BackoffTreeTopics",
        "a tree of up to millions of topics.",
        {
            **_WORDS,
            "n_laps": "--laps",
            "branching": "--branching",
            "stages": "--stages",
            "updates": "--updates",
        },
        (),
        (),
        None,
    ),
    "gaussian-hdp": Method(
        "GaussianHDP",
        "groups of real vectors (patches of images, say) that share components.",
        {**_GAUSSIAN, **_LEARN, "bound": "--bound", "stick_rule": "--stick-rule", "restarts": "--restarts"},
        (),
        (_SEEDING,),
        _SEEDING,
        "groups",
    ),
    "gaussian-mixture": Method(
        "GaussianDPMixture", "real vectors without groups.", _GAUSSIAN, (), (_SEEDING,), _SEEDING, "vectors"
    ),
}
DEFAULT = "collapsed"
STARTS = tuple(dict.fromkeys(name for method in METHODS.values() for name in method.starts))


def parameters_of(method: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of the estimator, those that keep their defaults left out.

    Parameters
    ----------
    method : str
        A key of `METHODS`.
    given : mapping
        Parameter -> value of its option; None where the option was not given.

    Raises
    ------
    InputError
        If an option or a start belongs to another method.
    """
    for (parameter, option), owners in _owners().items():
        if method not in owners and given.get(parameter) is not None:
            several, last = ", ".join(owners[:-1]), owners[-1]
            named, way = (f"{several} or {last}", "one of them") if several else (last, "that method")
            raise InputError(
                f"{option} needs --method {named}, but the method is {method}; give {way}, or leave {option} out"
            )
    start, known = given.get("init"), METHODS[method].starts
    if start is not None and start not in known:
        raise InputError(
            f"--init is {start!r}, which --method {method} does not know; give {', '.join(known[:-1])} or {known[-1]}"
        )
    parameters = {name: value for name, value in given.items() if value is not None}
    if "n_topics" in parameters:
        parameters[METHODS[method].parameter_of_topics] = parameters.pop("n_topics")
    return parameters


def method_of(estimator: str) -> Method | None:
    """Return the family of an estimator; None where the command line has none.

    Parameters
    ----------
    estimator : str
        Name in `stickbreak`.
    """
    return next((method for method in METHODS.values() if method.estimator == estimator), None)


def _owners() -> dict[tuple[str, str], list[str]]:
    """Return (parameter, option) -> the methods that have it."""
    found: dict[tuple[str, str], list[str]] = {}
    for name, method in METHODS.items():
        for pair in method.options.items():
            found.setdefault(pair, []).append(name)
    return found
