"""What a fit asks of its documents and parameters, checked before any work is done."""

from __future__ import annotations

from collections.abc import Sequence

from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError
from stickbreak.fitting.requirements import check_memory

STORED_BYTES = 10.0  # of an entry of the stored S
STORED_SHARE = 0.1  # of the pairs (word of a batch, topic) that are stored: 0.03 to 0.1 measured after the first laps


def check_learned(names: Sequence[str], *, memoized: bool) -> None:
    """Refuse to learn hyperparameters where only given ones are used."""
    if names and not memoized:
        raise InputError(
            f"learn is {tuple(names)!r}, but only the memoized schedule learns hyperparameters; "
            "fit with schedule='memoized', or set learn=()."
        )


def check_sizes(corpus: Corpus, n_topics: int, n_batches: int, n_kept: int, *, trials: bool) -> None:
    """Refuse more topics than the memory can carry.

    Parameters
    ----------
    corpus : Corpus
    n_topics : int
        K at the start.
    n_batches : int
    n_kept : int
        Batches whose statistics are stored.
    trials : bool
        Whether a move tries a second state beside the first.

    Raises
    ------
    InputError
    """
    check_memory(n_topics, corpus.n_words, bytes_needed(corpus, n_topics, n_batches, n_kept, trials=trials))


def bytes_needed(corpus: Corpus, n_topics: int, n_batches: int, n_kept: int, *, trials: bool) -> float:
    """Estimate the memory of a fit: scratch and a visit; S in total, tau, and the S of every batch that is kept.

    The latter three are there twice while a trial is on.
    """
    of_batch = min(corpus.n_words, corpus.counts.nnz / n_batches)  # words: more than there are where they repeat
    state = 8.0 * 2.0 * corpus.n_words + STORED_BYTES * STORED_SHARE * n_kept * of_batch
    return n_topics * (8.0 * 2.0 * (corpus.n_words + of_batch) + state * (2 if trials else 1))
