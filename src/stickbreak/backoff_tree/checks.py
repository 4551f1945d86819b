"""What a tree asks of its documents and parameters, checked before any work is done."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from numbers import Real
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stickbreak.backoff_tree.document_blocks import BLOCK_TOKENS
from stickbreak.backoff_tree.laps import TreeSettings
from stickbreak.backoff_tree.sampler import LEARNABLE
from stickbreak.backoff_tree.shape import Shape, TreeShape, shape_of
from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError
from stickbreak.fitting.checks import check_bytes, check_names, check_whole
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.ranges import LEAST_DISCOUNT, are_discounts
from stickbreak.storage.memory import memory_installed
from stickbreak.topics.estimator import MOST_FOUND

ENTRY_BYTES = 35.0  # of a pair of word and leaf with tokens: in the lists, their sums and their directories
LEAF_BYTES = 40.0  # of a leaf: what words add up to there, and the backoff
DOCUMENT_BYTES = 64.0  # of a document, also of an empty one: where it begins and what is made ready of it; 61 measured
TOKEN_BYTES = 8.0  # of a token in memory: its leaf, and the one that takes its place
BLOCK_BYTES = 60.0  # of a token of a block that is worked on: its word, its leaf before and after, its lists


class Parameters(Protocol):
    """The parameters that are checked here."""

    n_topics: int
    branching: str | Sequence[int] | Sequence[str] | NDArray
    alpha: Any
    eta: Any
    learn: Sequence[str]
    learn_every: int
    n_laps: int
    seeds: Any
    stages: Sequence[int] | None
    stage_sweeps: int
    updates: str
    smoothing_share: float | None


def check_parameters(given: Parameters) -> None:
    """Refuse what no fit could make sense of, whatever its documents."""
    if is_learned(given.branching):
        _check_learned(given)
    settings = tree_settings(given)
    if len(settings.stages) * settings.stage_sweeps >= given.n_laps:
        raise InputError(
            f"{len(settings.stages)} stages of {settings.stage_sweeps} sweeps leave no sweep for the whole "
            f"tree, because n_laps={given.n_laps}; give more sweeps or fewer stages."
        )


def tree_settings(given: Parameters) -> TreeSettings:
    """Return what the parameters of a fit stand for."""
    check_names("learn", given.learn, LEARNABLE)
    learned = is_learned(given.branching)
    # of a tree that is learned, one as large as it can become stands for it
    shape = TreeShape((MOST_FOUND,)) if learned else shape_of(given.branching, int(given.n_topics))
    alpha, eta = discounts("alpha", given.alpha, shape), discounts("eta", given.eta, shape)
    stages = _stages(given, shape)
    rest = int(given.n_laps) - len(stages) * int(given.stage_sweeps)
    return TreeSettings(
        shape,
        alpha,
        eta,
        stages,
        int(given.stage_sweeps),
        tuple(given.learn),
        int(given.learn_every),
        given.updates == "serial",
        None if given.smoothing_share is None else float(given.smoothing_share),
        learned,
        0 if learned else max(0, min(int(given.stage_sweeps), rest // 2)),
    )


def is_learned(branching: Any) -> bool:
    """Whether the tree is learned."""
    return isinstance(branching, str) and branching == "learned"


def check_sizes(corpus: Corpus, settings: TreeSettings, *, blocks: int, in_files: bool) -> None:
    """Refuse more documents or leaves than the memory can carry.

    `blocks`: blocks of documents that are worked on at a time. `in_files`: whether the leaves of the tokens are in
    files.
    """
    shape, N = settings.shape, float(corpus.n_tokens)
    n_first = settings.first_shape.n_leaves
    words = ENTRY_BYTES * min(N, float(corpus.n_words) * n_first) + LEAF_BYTES * shape.n_leaves + shape.table_bytes
    words += DOCUMENT_BYTES * corpus.n_documents
    what = f"a fit of {N:.12g} tokens to a tree of {shape.n_leaves:,} leaves"
    block = max(float(BLOCK_TOKENS[1]), float(np.max(corpus.document_lengths)))  # no document is cut
    files = words + BLOCK_BYTES * min(N, blocks * block)
    if not in_files and files <= memory_installed():
        needed = max(files, words + TOKEN_BYTES * N)
        check_bytes(what, needed, "keep the leaves of its tokens in files with scratch (--scratch)")
    check_bytes(
        what, files, "begin with coarser trees (stages), or give fewer or shorter documents, fewer leaves or threads"
    )


def discounts(name: str, given: Any, shape: Shape) -> Float:
    """Return a discount for each level from a sum, or from one discount each.

    Raises InputError if they do not fit the tree, are not positive, or do not sum to less than 1.
    """
    try:
        delta = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):  # names, rows of several lengths, numbers beyond all doubles
        delta = np.empty(0)
    if isinstance(given, Real) and delta.shape == ():
        delta = np.full(shape.depth, float(given) / shape.depth)
    if delta.shape != (shape.depth,):
        told = f"an array of shape {delta.shape}" if isinstance(given, np.ndarray) else f"{given!r:.100}"
        raise InputError(f"{name} is {told}; give their sum, or one discount for each of {shape.depth} levels.")
    if not are_discounts(delta):
        raise InputError(
            f"{name} is {given!r}; give positive discounts ({LEAST_DISCOUNT:g} or more) that sum to less than 1."
        )
    return delta


def checked_leaves(given: ArrayLike, n_tokens: Int) -> Int:
    """Return leaves as an array, refuse what is not a list of leaves that have tokens."""
    try:
        chosen = np.atleast_1d(np.asarray(given))
    except ValueError:  # rows of several lengths
        chosen = np.empty(0, dtype=object)
    if chosen.ndim != 1 or chosen.dtype.kind not in ("iu" if chosen.size else "iuf"):  # an empty list is of floats
        raise InputError(f"leaves is {given!r}; give a list of whole numbers from leaves_.")
    bad = [z for z in chosen.tolist() if not 0 <= z < n_tokens.size or n_tokens[z] == 0]
    if bad:
        raise InputError(f"leaf {bad[0]} has no token; choose from the leaves with tokens (leaves_).")
    return chosen.astype(np.int64)


def _check_learned(given: Parameters) -> None:
    """Refuse what goes with a given tree alone."""
    for name, value in (("stages", given.stages), ("seeds", given.seeds)):
        if value is not None:
            raise InputError(f"{name} is for a tree that is given, but branching is 'learned'; leave one of them out.")
    for name in ("alpha", "eta"):
        if not isinstance(getattr(given, name), Real):
            raise InputError(
                f"{name} has a discount for each level, but branching is 'learned', and the number of levels is not "
                "known before the fit; give their sum."
            )


def _stages(given: Parameters, shape: Shape) -> tuple[int, ...]:
    """Return the levels of the coarser trees, refuse others than ever more of them."""
    if given.stages is None:
        n = min(shape.depth - 1, int(given.n_laps) // (2 * int(given.stage_sweeps)))
        return tuple(range(shape.depth - n, shape.depth))
    levels = tuple(check_whole("stages", n, 1) for n in given.stages)
    if any(b <= a for a, b in pairwise((*levels, shape.depth))):
        raise InputError(
            f"stages is {tuple(given.stages)!r}; give increasing numbers of levels, below the {shape.depth} of the "
            "tree."
        )
    return levels
