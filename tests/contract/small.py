"""Small fits of the estimators, to words or to vectors, and what a model holds, for comparison."""

import copy
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from fuzz.models import FITS, documents, weights
from scipy import sparse

Model = Any
SMALL = {
    "TopicModel": "topics",
    "VariationalHDP": "variational",
    "GibbsHDP": "gibbs",
    "HybridHDP": "hybrid",
    "LDA": "lda",
    "Pachinko": "pachinko",
    "HierarchicalPachinko": "hierarchical pachinko",
    "NestedCRP": "nested crp",
    "NestedHDP": "nested hdp",
    "OnlineHDP": "online",
    "SplitMergeOnlineHDP": "split-merge online",
    "BackoffTreeTopics": "tree",
    "GaussianHDP": "gaussian",
    "GaussianDPMixture": "gaussian mixture",
}
"""Name -> key of `FITS`."""
TREES = ("Pachinko", "HierarchicalPachinko", "NestedCRP", "NestedHDP", "BackoffTreeTopics")
"""Those whose topics form a tree."""
OF_WORDS = tuple(name for name, key in SMALL.items() if FITS[key].data == "words")
FACES = ("TopicModel", "BackoffTreeTopics", "GaussianHDP", "GaussianDPMixture")
"""One of each kind of face: topics side by side, a tree, groups of vectors, vectors. What all of a kind share is one
function, which one of them is asked to show."""
FACES_OF_WORDS = FACES[:2]


def unfitted(name: str, **parameters: Any) -> Model:
    """Return an estimator of four laps."""
    fit = FITS[SMALL[name]]
    shorter = {"GibbsHDP": {"burn_in": 1}, "BackoffTreeTopics": {"stages": (1,), "stage_sweeps": 1}}
    return fit.model(4, **{**shorter.get(name, {}), **parameters})


def fitted(name: str) -> Model:
    """Return it, fitted: a copy of one fit for all tests."""
    return copy.deepcopy(_fitted(name))


@cache
def _fitted(name: str) -> Model:
    return unfitted(name).fit(data_of(name))


def data_of(name: str) -> Any:
    """Return what it is fitted to."""
    return documents(FITS[SMALL[name]].data)


def bits(model: Model, name: str) -> bytes:
    """Return the weights that a model gives to the documents of its fit."""
    return np.ascontiguousarray(weights(model, data_of(name))).tobytes()


def attributes(model: Any) -> dict[str, Any]:
    """The attributes of a model, but for what it has prepared and can prepare again."""
    return {name: value for name, value in vars(model).items() if name not in ("_cached", "_room")}


def frozen(value: Any) -> Any:
    """Return all that a value holds, deeply, so that a later change of it shows."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if sparse.issparse(value):
        return {name: frozen(getattr(value, name)) for name in ("data", "indices", "indptr")}
    if isinstance(value, dict):
        return {key: frozen(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [frozen(entry) for entry in value]
    if isinstance(value, str | int | float | bool | None):
        return value
    slots = [name for base in type(value).__mro__ for name in getattr(base, "__slots__", ())]
    names = slots or vars(value)
    return type(value).__name__, {name: frozen(getattr(value, name)) for name in names}


def raising(error: BaseException, lap: int) -> Callable[[dict[str, Any]], None]:
    """Return a callback that raises in a lap."""

    def callback(event: dict[str, Any]) -> None:
        if event.get("lap") == lap:
            raise error

    return callback
