"""What the nested Chinese restaurant process asks of its documents and parameters, checked before any work is done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError
from stickbreak.fitting.checks import check_bytes, check_names
from stickbreak.model.seeds import Seeds, known_words, pseudo_of
from stickbreak.numerics.arrays import Float
from stickbreak.numerics.ranges import LARGEST, SMALLEST
from stickbreak_baselines.nested_crp.state import LEARNABLE

TOKEN_BYTES = 40.0  # of a token: its word and level, an entry of a list, and what is there while the tree is kept
GAMMA_BYTES = 32.0  # of a token, for log Gamma(eta_w + n) of each word, while this is computed
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
    _numbers(given.eta)


def eta_of(eta: Any, n_levels: int, n_words: int) -> tuple[Float, Float | None]:
    """Return the pseudo-count of each level, and what to multiply it by for each word.                  docs/math (R1)

    Returns
    -------
    levels : ndarray of shape (L,)
        In the mean of all words.
    of_words : ndarray of shape (W,) or None
        Their mean is 1; None where words are alike.

    Raises
    ------
    InputError
        If `eta` is neither a number in its range, nor one for each level, nor one for each word.
    """
    found = _numbers(eta)
    if found.ndim == 0:
        return np.full(n_levels, found), None
    if found.shape == (n_levels,):
        return found.copy(), None
    if found.shape == (n_words,):
        return np.full(n_levels, found.mean()), found / found.mean()
    raise InputError(
        f"eta is an array of shape {found.shape}, but there are {n_levels} levels and {n_words} words; give a number, "
        "one for each level from the root down, or one for each word."
    )


def _numbers(eta: Any) -> Float:
    """Return eta as a number or a row of numbers; refuse anything else."""
    try:
        found = np.asarray(eta, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"eta is {eta!r:.60}, not a number; give one, or one for each level or word.") from None
    if found.ndim > 1:
        raise InputError(f"eta is an array of shape {found.shape}; give a number, or one for each level or word.")
    if not bool(((found >= SMALLEST) & (found <= LARGEST)).all()):  # false for NaN
        raise InputError(f"eta is {eta!r:.60}; give numbers from {SMALLEST:g} to {LARGEST:g}.")
    return found


def whole_pseudo(seeds: Seeds, seed_tokens: float, documents: Corpus) -> sparse.csr_array:
    """Return the tokens of the words of seeds, (W, n_kept): whole numbers, one at least.             docs/math (R7)"""
    words = list(known_words(seeds, documents.words).values())
    found = pseudo_of(words, documents.n_words, seed_tokens)
    found.data = np.maximum(np.rint(found.data), 1.0)
    return found


def check_sizes(corpus: Corpus, n_levels: int, *, by_word: bool) -> None:
    """Refuse more documents than the memory can carry; eta may be one for each word.

    Raises
    ------
    InputError
    """
    of_token = TOKEN_BYTES + (GAMMA_BYTES if by_word else 0.0)
    needed = of_token * float(corpus.n_tokens) + NODE_BYTES * (1.0 + (n_levels - 1.0) * corpus.n_documents)
    check_bytes(
        f"a fit of {corpus.n_documents} documents of {corpus.n_tokens:.12g} tokens", needed, "give fewer of them"
    )
