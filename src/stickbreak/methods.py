"""The methods of stickbreak and of installed plug-ins: who fits what, and where the class of each lives.

A plug-in names its methods in its `pyproject.toml`, each as a `Method` in a module that imports nothing heavy:

    [project.entry-points."stickbreak.methods"]
    lda = "stickbreak_baselines.methods:LDA"
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any

from stickbreak.exceptions import InputError

__all__ = ["ENTRY_POINTS", "GROUPS", "OWN", "Method", "estimator_of", "methods"]

ENTRY_POINTS = "stickbreak.methods"
GROUPS = {  # key -> heading of the help of `stickbreak fit`
    "first": "Methods to begin with",
    "more": "For large collections, and for how certain topics are",
    "baseline": "From other papers, to compare with",
    "plug-in": "From other packages",
    "vectors": "For real vectors in place of words",
}


@dataclass(frozen=True, slots=True)
class Method:
    """A method of `stickbreak fit --method`.

    Attributes
    ----------
    module : str
        The module of its estimator, which is imported when it is first used.
    estimator : str
        The class in that module. Saved models name it, so it must differ from those of other methods.
    purpose : str
        What it is for, in one line of help.
    group : str, default="plug-in"
        The key of `GROUPS` under which the help has it.
    data : {"documents", "groups", "vectors", "documents and vectors"} or str, default="documents"
        What it is fitted to. A plug-in with data of its own names the class that reads and tells it, "module:Class".
    uncounted_starts : tuple of str or None
        Values of `init` that do not start with the given number of topics. None stands for the only start of a family
        without that parameter.
    given_number : bool, default=False
        Whether the number of topics is set before the fit, not found by it.
    quick : mapping of str to value, optional
        Parameters that make a fit of few documents short, where the defaults are long.
    """

    module: str
    estimator: str
    purpose: str
    group: str = "plug-in"
    data: str = "documents"
    uncounted_starts: tuple[str | None, ...] = ()
    given_number: bool = False
    quick: Mapping[str, Any] = field(default_factory=dict)

    def load(self) -> Any:
        """Import the estimator and return its class."""
        return getattr(importlib.import_module(self.module), self.estimator)


OWN = MappingProxyType(
    {
        "topics": Method(
            "stickbreak.topics",
            "TopicModel",
            "finds the number of topics, or takes one; the documents must fit in memory.",
            "first",
        ),
        "variational": Method(
            "stickbreak.variational",
            "VariationalHDP",
            "has an objective that compares numbers of topics; can read from disk.",
            "more",
        ),
        "gibbs": Method(
            "stickbreak.sampling",
            "GibbsHDP",
            "shows how certain the number of topics is; samples the posterior, slowly.",
            "more",
            uncounted_starts=("topic-model", "sequential", "single"),
            quick={"n_laps": 20},
        ),
        "hybrid": Method(
            "stickbreak.hybrid",
            "HybridHDP",
            "for many topics, or more documents than fit in memory; reads from disk.",
            "more",
        ),
        "tree": Method(
            "stickbreak.backoff_tree",
            "BackoffTreeTopics",
            "finds a tree of up to millions of topics.",
            "first",
            uncounted_starts=(None,),
            given_number=True,
        ),
        "gaussian-hdp": Method(
            "stickbreak.variational",
            "GaussianHDP",
            "for real vectors in groups that share components.",
            "vectors",
            data="groups",
        ),
        "gaussian-mixture": Method(
            "stickbreak.variational",
            "GaussianDPMixture",
            "for real vectors without groups.",
            "vectors",
            data="vectors",
        ),
        "vectors": Method(
            "stickbreak.variational",
            "VectorTopics",
            "for texts with vectors, such as embeddings: --vectors.",
            "vectors",
            data="documents and vectors",
        ),
    }
)


@cache
def methods() -> dict[str, Method]:
    """Return all methods by the names that `--method` takes: our own first, then those of installed plug-ins.

    A plug-in that cannot be read, or whose name is taken, is left out with a warning: the others work without it.
    """
    from importlib.metadata import entry_points

    known = dict(OWN)
    for point in sorted(entry_points(group=ENTRY_POINTS), key=lambda point: point.name):
        plug_in = f"The method {point.name!r} of {point.dist.name if point.dist else 'a plug-in'}"
        try:
            method = point.load()
        except Exception as error:  # whatever the code of others raises
            warnings.warn(f"{plug_in} cannot be loaded ({error}); update or uninstall it.", stacklevel=2)
            continue
        if not isinstance(method, Method) or method.group not in GROUPS:
            warnings.warn(f"{plug_in} is not a Method of a known group; update or uninstall it.", stacklevel=2)
        elif point.name in known or method.estimator in {one.estimator for one in known.values()}:
            warnings.warn(f"{plug_in} has a name that is taken; uninstall one of the two.", stacklevel=2)
        else:
            known[point.name] = method
    return known


def estimator_of(name: str) -> Any:
    """Return an estimator by the name of its class.

    Parameters
    ----------
    name : str
        For example "TopicModel".

    Returns
    -------
    type
        The class.

    Raises
    ------
    InputError
        If no installed method has it.
    """
    for table in (OWN, methods()):  # plug-ins are only looked for where they are needed
        for method in table.values():
            if method.estimator == name:
                return method.load()
    raise InputError(f"{name!r} is no estimator of the installed methods; install the package that has it.")
