"""The local step of documents (docs/math (F2) to (F4)), and the part of the bound that they add."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stickbreak.fitting.engine import Engine
from stickbreak.numerics.arrays import Float
from stickbreak_baselines.minibatch import Minibatch
from stickbreak_baselines.nested_hdp.kernels import documents as document_kernels
from stickbreak_baselines.nested_hdp.state import Subtrees
from stickbreak_baselines.nested_hdp.tree import Tree


@dataclass(frozen=True, slots=True)
class LocalSettings:
    """The priors of a document, and when its local step stops."""

    alpha: float
    mean: float  # m
    scale: float  # pi
    tolerance: float  # nats per token
    max_sweeps: int


@dataclass(frozen=True, slots=True)
class Globals:
    """What documents see of the corpus."""

    tree: Tree
    elog: Float  # (W_b, K)  E log phi_kw of the words of the documents
    log_g: Float  # (K,)  E log g_k


@dataclass(frozen=True, slots=True)
class Found:
    """What documents say together."""

    S: Float  # (W_b, K)  expected tokens
    picks: Float  # (K,)  documents whose subtree has the node
    own: float  # what they add to the bound beside what topics and sticks of the corpus multiply: a part of (F4)
    sweeps: float  # of a document, on average


def local_step(
    documents: Minibatch,
    seen: Globals,
    settings: LocalSettings,
    subtrees: Subtrees,
    engine: Engine,
    *,
    fresh: bool = True,
) -> Found:
    """Run the local step of documents; `subtrees` changes in place.

    Parameters
    ----------
    documents : Minibatch
    seen : Globals
    settings : LocalSettings
    subtrees : Subtrees
    engine : Engine
        Runs the documents of each shard; their statistics are added up one document after the other.
    fresh : bool, default=True
        Whether new subtrees are selected, and taken where the bound is larger.
    """
    share = np.empty((documents.count.size, subtrees.node.shape[1]))
    value, sweeps = np.empty(documents.n_documents), np.empty(documents.n_documents, np.int64)
    run_shards(documents, seen, settings, subtrees, engine, share, value, sweeps, fresh=fresh)
    S, picks = np.zeros(seen.elog.shape), np.zeros(seen.log_g.size)
    of_documents = documents.indptr, documents.word, documents.count
    document_kernels.add_statistics(*of_documents, subtrees.node, subtrees.n_slots, share, S, picks)
    own = float(value.sum()) - float((S * seen.elog).sum()) - float(picks @ seen.log_g)
    return Found(S, picks, own, float(sweeps.mean()))


def run_shards(
    documents: Minibatch,
    seen: Globals,
    settings: LocalSettings,
    subtrees: Subtrees,
    engine: Engine,
    share: Float,
    value: Float,
    sweeps: NDArray[np.int64],
    *,
    fresh: bool = True,
) -> None:
    """Run the kernel on each shard; it writes subtrees, shares of words (nnz, T), bounds (D,) and sweeps (D,)."""
    tree, priors = seen.tree, (settings.alpha, settings.mean, settings.scale)

    def run(rows: tuple[int, int]) -> None:
        first, last = rows
        low, high = documents.indptr[first], documents.indptr[last]
        here = subtrees.of(slice(first, last))
        document_kernels.visit(
            documents.indptr[first : last + 1] - low, documents.word[low:high], documents.count[low:high], seen.elog,
            seen.log_g, tree.start, tree.inner, *priors, settings.tolerance, settings.max_sweeps, fresh, here.node,
            here.up, here.n_slots, here.tokens, share[low:high], value[first:last], sweeps[first:last],
        )  # fmt: skip

    engine.map(run, documents.shards())
