"""stickbreak finds the topics of a large collection, and how many there are.

>>> import stickbreak
>>> corpus, truth = stickbreak.corpus.toy_bars(n_documents=200, seed=0)
>>> model = stickbreak.TopicModel(n_topics=20, n_laps=5, random_state=0).fit(corpus)
>>> len(model.top_words(5)) == model.n_topics_
True
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any, TypeVar, overload

from stickbreak.methods import OWN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from stickbreak import comparison, corpus, evaluation, report
    from stickbreak.backoff_tree import BackoffTreeTopics
    from stickbreak.corpus import Corpus, GroupedVectors
    from stickbreak.counting import count_files
    from stickbreak.fitting.cluster import cluster
    from stickbreak.hybrid import HybridHDP
    from stickbreak.model.naming import ChatModel
    from stickbreak.model.topic_estimator import TopicEstimator
    from stickbreak.sampling import GibbsHDP
    from stickbreak.topics import TopicModel
    from stickbreak.variational import GaussianDPMixture, GaussianHDP, VariationalHDP, VectorTopics
    from stickbreak.variational.vector_model import VectorModel

    __version__: str

_LAZY = {
    **{method.estimator: method.module for method in OWN.values()},
    "ChatModel": "stickbreak.model.naming",
    "Corpus": "stickbreak.corpus",
    "GroupedVectors": "stickbreak.corpus",
    "cluster": "stickbreak.fitting.cluster",
    "count_files": "stickbreak.counting",
}
_MODULES = ("comparison", "corpus", "evaluation", "report")

__all__ = [
    "BackoffTreeTopics",
    "ChatModel",
    "Corpus",
    "GaussianDPMixture",
    "GaussianHDP",
    "GibbsHDP",
    "GroupedVectors",
    "HybridHDP",
    "TopicModel",
    "VariationalHDP",
    "VectorTopics",
    "cluster",
    "comparison",
    "corpus",
    "count_files",
    "evaluation",
    "load",
    "report",
]


_Model = TypeVar("_Model", bound="TopicEstimator | VectorModel")


@overload
def load(
    path: str | os.PathLike[str], *, tokenizer: Callable[[str], Iterable[str]] | None = None
) -> TopicEstimator | VectorModel: ...
@overload
def load(
    path: str | os.PathLike[str], kind: type[_Model], *, tokenizer: Callable[[str], Iterable[str]] | None = None
) -> _Model: ...
def load(
    path: str | os.PathLike[str],
    kind: type[Any] | None = None,
    *,
    tokenizer: Callable[[str], Iterable[str]] | None = None,
) -> Any:
    """Load a fitted model that `save` wrote; nothing in the folder is executed.

    Parameters
    ----------
    path : path-like
        The folder.
    kind : class, optional
        The estimator that the folder must hold, for example `stickbreak.TopicModel`. Type checkers then know the
        class of the result. Default: any model.
    tokenizer : callable, optional
        The function that cut the texts of the fit into words, where it had one of your own
        (`TextOptions(tokenizer=...)`). The model only holds its name, and never imports it. It is needed to count new
        texts, and not for anything else.

    Returns
    -------
    estimator
        As it was when saved.

    Raises
    ------
    InputError
        If `kind` is not an estimator of stickbreak, or a tokenizer is given to a model that was fitted without one.
    ModelFormatError
        If the folder is not a saved model, is damaged, was written by a newer version, or holds another kind of model.

    Examples
    --------
    >>> import stickbreak, tempfile
    >>> corpus, _ = stickbreak.corpus.toy_bars(n_documents=50, seed=0)
    >>> folder = tempfile.mkdtemp() + "/bars"
    >>> stickbreak.TopicModel(n_topics=10, n_laps=2, random_state=0).fit(corpus).save(folder)
    >>> stickbreak.load(folder, stickbreak.TopicModel).n_laps_
    2
    """
    from stickbreak.exceptions import InputError, ModelFormatError
    from stickbreak.methods import estimator_of
    from stickbreak.storage.persistence import read_head

    if kind is not None:
        from stickbreak.model.estimator import Estimator

        if not (isinstance(kind, type) and issubclass(kind, Estimator)):
            raise InputError(f"kind is {kind!r}; give the class of the model, for example stickbreak.TopicModel.")
    found = read_head(path)["kind"]
    try:
        estimator = estimator_of(found)
    except InputError:
        raise ModelFormatError(
            f"{path} holds a {found!r}, which is not a model of any installed method; give the folder that `save` "
            "wrote, and install the package that has its method."
        ) from None
    if kind is not None and not issubclass(estimator, kind):
        raise ModelFormatError(
            f"{path} holds a {found}, not a {kind.__name__}; give kind={found}, or leave `kind` out."
        )
    model = estimator._load(path)
    if tokenizer is not None:
        from dataclasses import replace

        options = getattr(model, "text_options_", None)
        if options is None or options.tokenizer is None:
            raise InputError(f"{path} was fitted without a tokenizer; leave `tokenizer` out.")
        model.text_options_ = replace(options, tokenizer=tokenizer)
    return model


# Type checkers do not see this function: to them every misspelt name would be one of the package.
if not TYPE_CHECKING:

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
