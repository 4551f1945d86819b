"""stickbreak finds the topics of a large collection, and how many there are.

>>> import stickbreak
>>> corpus, truth = stickbreak.corpus.toy_bars(n_documents=200, seed=0)
>>> model = stickbreak.CollapsedHDP(n_topics=20, n_laps=5, random_state=0).fit(corpus)
>>> len(model.top_words(5)) == model.n_topics_
True
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stickbreak import corpus, evaluation, report
    from stickbreak.backoff_tree import BackoffTreeTopics
    from stickbreak.collapsed import CollapsedHDP
    from stickbreak.corpus import Corpus, GroupedVectors
    from stickbreak.hybrid import HybridHDP
    from stickbreak.model.topic_model import TopicModel
    from stickbreak.sampling import GibbsHDP
    from stickbreak.variational import GaussianDPMixture, GaussianHDP, VariationalHDP
    from stickbreak.variational.vectors.model import VectorModel

ESTIMATORS = {  # class name -> where it lives; what `load` knows
    "BackoffTreeTopics": "stickbreak.backoff_tree",
    "CollapsedHDP": "stickbreak.collapsed",
    "GibbsHDP": "stickbreak.sampling",
    "HybridHDP": "stickbreak.hybrid",
    "VariationalHDP": "stickbreak.variational",
}
VECTOR_ESTIMATORS = {  # models of real vectors
    "GaussianDPMixture": "stickbreak.variational",
    "GaussianHDP": "stickbreak.variational",
}
_LAZY = {
    **ESTIMATORS,
    **VECTOR_ESTIMATORS,
    "Corpus": "stickbreak.corpus",
    "GroupedVectors": "stickbreak.corpus",
}
_MODULES = ("corpus", "evaluation", "report")

__all__ = [
    "BackoffTreeTopics",
    "CollapsedHDP",
    "Corpus",
    "GaussianDPMixture",
    "GaussianHDP",
    "GibbsHDP",
    "GroupedVectors",
    "HybridHDP",
    "VariationalHDP",
    "corpus",
    "evaluation",
    "load",
    "report",
]


def load(path: str | os.PathLike[str]) -> TopicModel | VectorModel:
    """Load a fitted model that `save` wrote; nothing in the folder is executed.

    Parameters
    ----------
    path : path-like
        The folder.

    Returns
    -------
    estimator
        As it was when saved.

    Raises
    ------
    ModelFormatError
        If the folder is no saved model, or damaged, or of a newer version.
    """
    from stickbreak.exceptions import ModelFormatError
    from stickbreak.storage.persistence import read_head

    kind = read_head(path)["kind"]
    known = {**ESTIMATORS, **VECTOR_ESTIMATORS}
    if kind not in known:
        raise ModelFormatError(f"{path} holds a {kind!r}, not a fitted model; give the folder that `save` wrote.")
    model: TopicModel | VectorModel = getattr(importlib.import_module(known[kind]), kind)._load(path)
    return model


def __getattr__(name: str) -> Any:
    """Import the parts of the package when they are first asked for: `import stickbreak` stays quick."""
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    if name in _MODULES:
        return importlib.import_module(f"stickbreak.{name}")
    if name == "__version__":
        from importlib.metadata import version

        return version("stickbreak")
    raise AttributeError(f"module 'stickbreak' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__, "__version__"])
