"""Small fits of all estimators, in every schedule, sampler and start: what the trials break, kill and compare."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from stickbreak.corpus import Corpus, GroupedVectors, planted_gaussians
from stickbreak.methods import estimator_of

Model = Any

ALL_MOVES = ("merge", "delete", "refine", "birth", "reorder")
ALL_PRIORS = ("alpha", "gamma", "eta")


@dataclass(frozen=True)
class Fit:
    """A small fit: `make(n)` gives an estimator of n laps; `data` is "words", "groups" or "vectors"."""

    make: Callable[..., Model]
    n: int
    data: str = "words"

    def model(self, n: int | None = None, **parameters: Any) -> Model:
        """Return the estimator, with `n` laps (None: its own number) and some parameters changed."""
        return self.make(**{"n_laps": self.n if n is None else n, "random_state": 3, **parameters})

    def documents(self) -> Corpus | GroupedVectors | np.ndarray:
        """Return what the fit is given."""
        return documents(self.data)


@cache
def documents(kind: str) -> Corpus | GroupedVectors | np.ndarray:
    """Return small documents: "words" (a Corpus), "groups" (GroupedVectors) or "vectors" (an array)."""
    if kind == "words":
        return Corpus.from_counts(np.random.default_rng(0).poisson(0.8, (40, 25)))
    groups, _ = planted_gaussians(n_groups=6, n_vectors=15, n_components=3, seed=0)
    return groups if kind == "groups" else np.asarray(groups.values)


def _fit(estimator: str, n: int, data: str = "words", **fixed: Any) -> Fit:
    def make(**parameters: Any) -> Model:
        return estimator_of(estimator)(**{**fixed, **parameters})

    return Fit(make, n, data)


FITS = {
    "topics": _fit("TopicModel", 24, n_topics=8, tolerance=None),
    "topics found": _fit("TopicModel", 60, max_topics=9, tolerance=None, learn=("alpha", "eta")),
    "topics with bursts": _fit("TopicModel", 60, max_topics=9, tolerance=None, bursts=True),
    "variational": _fit(
        "VariationalHDP", 14, n_topics=6, n_batches=3, init_sweeps=3, tolerance=1e-300, moves=ALL_MOVES,
        learn=ALL_PRIORS,
    ),
    "variational stochastic": _fit(
        "VariationalHDP", 16, n_topics=6, n_batches=3, init_sweeps=3, schedule="stochastic"
    ),
    "variational random": _fit("VariationalHDP", 10, n_topics=6, n_batches=2, init="documents", tolerance=1e-300),
    "hybrid": _fit("HybridHDP", 10, n_topics=6, batch_size=15, init_sweeps=3),
    "hybrid unbounded": _fit(
        "HybridHDP", 10, n_topics=6, batch_size=15, init="random", top_level="unbounded", learn=("alpha",)
    ),
    "online": _fit("OnlineHDP", 10, n_topics=6, n_tables=4, batch_size=15, merge_threshold=0.95),
    "online even": _fit("OnlineHDP", 10, n_topics=6, batch_size=15, init="documents", table_start="even"),
    "split-merge online": _fit("SplitMergeOnlineHDP", 10, n_topics=6, max_topics=9, merge_trials=0, batch_size=15),
    "split-merge online merges": _fit("SplitMergeOnlineHDP", 10, n_topics=6, init="documents", batch_size=15),
    "gibbs": _fit(
        "GibbsHDP", 24, n_topics=6, burn_in=5, thin=2, n_chains=2, learn=ALL_PRIORS
    ),
    "gibbs lda start": _fit("GibbsHDP", 16, n_topics=6, burn_in=5, thin=2, init="lda"),
    "gibbs franchise": _fit(
        "GibbsHDP", 20, n_topics=6, burn_in=5, thin=2, representation="franchise",
        init="sequential",
    ),
    "gibbs partially collapsed": _fit(
        "GibbsHDP", 20, n_topics=6, burn_in=5, thin=2, representation="partially-collapsed", learn=ALL_PRIORS
    ),
    "lda": _fit("LDA", 14, n_topics=6, tolerance=1e-300, learn=("alpha", "eta")),
    "lda online": _fit("LDA", 10, n_topics=6, batch_size=15),
    "pachinko": _fit("Pachinko", 60, n_super=3, n_topics=6, tolerance=None, learn=("alpha", "sub_alpha", "eta")),
    "hierarchical pachinko": _fit("HierarchicalPachinko", 16, n_super=3, n_topics=4, tolerance=None, estimate="last"),
    "nested crp": _fit("NestedCRP", 16, n_levels=3, learn=("gamma",)),
    "nested hdp": _fit("NestedHDP", 10, branching=(4, 2), batch_size=15),
    "nested hdp batch": _fit("NestedHDP", 12, branching=(3, 2, 2), batch_size=None, tolerance=1e-300),
    "tree": _fit(
        "BackoffTreeTopics", 16, branching=(2, 2, 2), stages=(1, 2), stage_sweeps=4, learn_every=3
    ),
    "tree serial": _fit("BackoffTreeTopics", 16, branching=(3, 2), updates="serial"),
    "gaussian": _fit(
        "GaussianHDP", 12, "groups", n_components=5, n_batches=2, tolerance=1e-300, learn=("alpha",)
    ),
    "gaussian mixture": _fit("GaussianDPMixture", 12, "vectors", n_components=5, n_batches=2, tolerance=1e-300),
}  # fmt: skip
"""Name -> fit; the estimators, some in several forms."""


def weights(model: Model, data: Any) -> np.ndarray:
    """Return the weights of documents or vectors under a fitted model, dense."""
    found = model.transform(data) if hasattr(model, "transform") else model.predict_proba(data)
    return np.asarray(found.toarray() if hasattr(found, "toarray") else found)


def digest(model: Model, data: Any) -> str:
    """Return a hash of all that a fitted model says: weights of documents, the trace without its times, parameters."""
    found = hashlib.sha256(np.ascontiguousarray(weights(model, data)).tobytes())
    for name, column in sorted(model.trace_.items()):
        if not name.startswith("seconds"):
            found.update(name.encode() + np.asarray(column, np.float64).tobytes())
    for name in (
        "components_",
        "topic_prior_",
        "tables_",
        "weights_",
        "means_",
        "topic_weights_",
        "alpha_",
        "gamma_",
        "eta_",
    ):
        if hasattr(model, name):
            found.update(name.encode() + np.ascontiguousarray(getattr(model, name), np.float64).tobytes())
    return f"{found.hexdigest()[:16]}/{len(model.trace_['lap'])}"
