"""What a fit asks of its documents and parameters, checked before any work is done."""

from __future__ import annotations

from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError
from stickbreak.inference.memory import memory_installed
from stickbreak.inference.requirements import check_start, check_tokens

STORED_BYTES = 10.0  # of an entry of the stored S
STORED_SHARE = 0.1  # of the pairs (word of a batch, topic) that are stored: 0.03 to 0.1 measured after the first laps


def check_corpus(corpus: Corpus, n_topics: int, n_batches: int, n_kept: int, *, named_start: bool) -> None:
    """Refuse documents that hold no token, and more topics than the memory or the documents can carry.

    Parameters
    ----------
    corpus : Corpus
    n_topics : int
        K at the start.
    n_batches : int
    n_kept : int
        Batches whose statistics are stored.
    named_start : bool
        Whether the topics to start with are still to be found in the documents.

    Raises
    ------
    InvalidCorpus, InputError
    """
    check_tokens(corpus)
    needed, installed = bytes_needed(corpus, n_topics, n_batches, n_kept), memory_installed()
    if needed > installed:
        has = f"it needs about {needed / 2**30:.3g} GiB, more than the {installed / 2**30:.3g} GiB of this machine"
        raise InputError(
            f"n_topics is {n_topics}: with {corpus.n_words} words {has}; give fewer topics or fewer words."
        )
    if named_start:
        check_start(corpus, n_topics)


def bytes_needed(corpus: Corpus, n_topics: int, n_batches: int, n_kept: int) -> float:
    """Estimate the memory of a fit: S in total, tau and scratch, a visit, and the S of every batch that is kept."""
    of_batch = min(corpus.n_words, corpus.counts.nnz / n_batches)  # words: more than there are where they repeat
    rows = 4.0 * corpus.n_words + 2.0 * of_batch
    return n_topics * (8.0 * rows + STORED_BYTES * STORED_SHARE * n_kept * of_batch)
