"""What `NestedHDP` asks of its documents and parameters, checked before any work is done."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError
from stickbreak.fitting.checks import check_bytes

MOST_NODES = 1 << 20
TABLES = 4.0  # of words and nodes: the state, the sums of a lap, E log phi, and the sums of a block


def branching_of(given: Sequence[int] | NDArray) -> tuple[int, ...]:
    """Return the children of a node at each level, from the root down.

    Raises
    ------
    InputError
        If that cannot be a tree, or it has too many nodes.
    """
    numbers: list[Any] = given.tolist() if isinstance(given, np.ndarray) else list(given)
    if not isinstance(numbers, list) or not numbers or not all(_is_number(n) for n in numbers):
        raise InputError(
            f"branching is {given!r:.60}; give a number of children, 1 or more, for each level from the root down."
        )
    n_nodes, width = 0, 1
    for n in numbers:
        width *= int(n)
        n_nodes += width
        if n_nodes > MOST_NODES:
            raise InputError(
                f"branching is {tuple(numbers)!r:.60}, a tree of more than {MOST_NODES:,} nodes; give smaller numbers."
            )
    return tuple(int(n) for n in numbers)


def _is_number(value: Any) -> bool:
    whole = isinstance(value, Integral)
    return whole and value is not True and int(value) >= 1


def check_children(branching: Sequence[int], n_known: int, known: str) -> None:
    """Refuse more topics that something is known of than the root has children.

    Raises
    ------
    InputError
    """
    if n_known > branching[0]:
        raise InputError(
            f"{known} are {n_known}, but the root has {branching[0]} child{'ren' * (branching[0] != 1)}, with theirs; "
            f"give a branching (--set branching=...) that begins with {n_known} or more."
        )


def check_sizes(branching: Sequence[int], corpus: Corpus, n_documents: int, most: int) -> None:
    """Refuse a tree or documents that the memory cannot carry.

    Parameters
    ----------
    branching : sequence of int
    corpus : Corpus
    n_documents : int
        Documents whose subtrees are kept.
    most : int
        Nodes of a document.

    Raises
    ------
    InputError
    """
    n_nodes = int(np.cumprod(np.asarray(branching, np.float64)).sum())
    needed = 8.0 * TABLES * n_nodes * corpus.n_words + 16.0 * n_documents * most
    check_bytes(
        f"branching is {tuple(branching)}: a tree of {n_nodes} nodes over {corpus.n_words} words", needed,
        "give smaller numbers or fewer words",
    )  # fmt: skip
