"""What the nested Chinese restaurant process asks of its documents and parameters, checked before any work is done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from stickbreak.baselines.nested_crp.state import LEARNABLE
from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError
from stickbreak.fitting.requirements import check_bytes, check_names
from stickbreak.model.seeds import Seeds, known_words
from stickbreak.model.word_prior import pseudo_of
from stickbreak.numerics.arrays import Float
from stickbreak.numerics.ranges import LARGEST, SMALLEST

TOKEN_BYTES = 40.0  # of a token: its word and level, an entry of a list, and what is there while the tree is kept
NODE_BYTES = 72.0  # of a node that there may be


class Parameters(Protocol):
    """The parameters that are checked here."""

    eta: Any
    n_levels: int
    learn: Sequence[str]


def check_parameters(given: Parameters) -> None:
    """Refuse what no fit could make sense of, whatever its documents.

    Raises
    ------
    InputError
    """
    check_names("learn", given.learn, LEARNABLE)
    eta_of(given.eta, int(given.n_levels))


def eta_of(eta: Any, n_levels: int) -> Float:
    """Return the pseudo-count of each level, (L,).

    Raises
    ------
    InputError
        If it is neither a number in its range nor one for each level.
    """
    try:
        found = np.asarray(eta, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"eta is {eta!r:.60}, not a number; give one, or one for each level.") from None
    if found.ndim > 1 or (found.ndim == 1 and found.size != n_levels):
        raise InputError(
            f"eta is an array of shape {found.shape}, but there are {n_levels} levels; give a number, or one for each "
            "level from the root down."
        )
    if not bool(((found >= SMALLEST) & (found <= LARGEST)).all()):  # false for NaN
        raise InputError(f"eta is {eta!r:.60}; give numbers from {SMALLEST:g} to {LARGEST:g}.")
    return np.full(n_levels, found) if found.ndim == 0 else found.copy()


def whole_pseudo(seeds: Seeds, seed_tokens: float, documents: Corpus) -> sparse.csr_array:
    """Return the tokens of the words of seeds, (W, n_kept): whole numbers, one at least.               math.md (R7)"""
    words = list(known_words(seeds, documents.words).values())
    found = pseudo_of(words, documents.n_words, seed_tokens)
    found.data = np.maximum(np.rint(found.data), 1.0)
    return found


def check_sizes(corpus: Corpus, n_levels: int) -> None:
    """Refuse more documents than the memory can carry.

    Raises
    ------
    InputError
    """
    needed = TOKEN_BYTES * float(corpus.n_tokens) + NODE_BYTES * (1.0 + (n_levels - 1.0) * corpus.n_documents)
    check_bytes(
        f"a fit of {corpus.n_documents} documents of {corpus.n_tokens:.12g} tokens", needed, "give fewer of them"
    )
