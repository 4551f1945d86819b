"""What a fit asks of its documents and parameters, checked before any work is done."""

from __future__ import annotations

from collections.abc import Sequence

from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError
from stickbreak.fitting.requirements import check_memory
from stickbreak.likelihoods import WordLikelihood
from stickbreak.storage.memory import memory_installed
from stickbreak.variational.words.observed import LIKELIHOODS, sees_cells

STORED_BYTES = 10.0  # of an entry of the stored S
STORED_SHARE = 0.1  # of the pairs (word of a batch, topic) that are stored: 0.03 to 0.1 measured after the first laps

CELL_BYTES = 28.0  # of a cell of a batch: its pair, its count, its ratio, and a copy of these in a shard


def check_learned(names: Sequence[str], *, memoized: bool) -> None:
    """Refuse to learn hyperparameters where only given ones are used."""
    if names and not memoized:
        raise InputError(
            f"learn is {tuple(names)!r}, but only the memoized schedule learns hyperparameters; "
            "fit with schedule='memoized', or set learn=()."
        )


def check_likelihood(likelihood: str | WordLikelihood, document_weights: str) -> None:
    """Refuse an unknown likelihood, and weights of documents that it cannot have."""
    if isinstance(likelihood, str) and likelihood not in LIKELIHOODS:
        known = ", ".join(map(repr, LIKELIHOODS))
        raise InputError(f"likelihood is {likelihood!r}; give one of {known}, or a likelihood of words.")
    if document_weights == "collapsed" and sees_cells(likelihood):
        raise InputError(
            "document_weights is 'collapsed', which is for tokens, but the likelihood is of counts; "
            "set document_weights='mean_field'."
        )


def check_sizes(
    corpus: Corpus,
    n_topics: int,
    n_batches: int,
    n_kept: int,
    *,
    beside: int,
    cells: bool,
    at_once: int,
    threads: int,
    on_disk: bool,
) -> None:
    """Refuse more topics than the memory can carry.

    Parameters
    ----------
    corpus : Corpus
    n_topics : int
        K at the start.
    n_batches : int
    n_kept : int
        Batches whose statistics are stored.
    beside : int
        Topics of a second state that a move tries beside the first, in units of K.
    cells : bool
        Whether every document has an observation of every word (`CountLikelihood`).
    at_once : int
        Batches that are visited at the same topics.
    threads : int
    on_disk : bool
        Whether statistics are kept in files: those of a group of batches are in memory.

    Raises
    ------
    InputError
    """
    visits = threads if at_once >= threads else 1

    def needed(n: int) -> float:
        return bytes_needed(corpus, n_topics, n_batches, n, beside=beside, cells=cells, visits=visits)

    in_files, advice = min(n_kept, at_once), "give fewer topics or fewer words"
    if not on_disk and needed(in_files) <= memory_installed():
        advice += ", or a folder for scratch"
    check_memory(n_topics, corpus.n_words, needed(in_files if on_disk else n_kept), advice)


def bytes_needed(
    corpus: Corpus, n_topics: int, n_batches: int, n_kept: int, *, beside: int, cells: bool = False, visits: int = 1
) -> float:
    """Estimate the memory of a fit: scratch and visits; S in total, tau, and the S of every batch that is kept.

    The latter three are there a second time while a trial is on, for `beside` times as many topics. Cells have two rows
    of S for each word in every batch, none of which is zero, and a batch holds all its cells.
    """
    n_words, share, visit = float(corpus.n_words), STORED_SHARE, 0.0
    of_batch = min(n_words, corpus.counts.nnz / n_batches)  # words: more than there are where they repeat
    if cells:
        visit = CELL_BYTES * corpus.n_documents * n_words / n_batches
        n_words, of_batch, share = 2.0 * n_words, 2.0 * n_words, 1.0
    state = 8.0 * 2.0 * n_words + STORED_BYTES * share * n_kept * of_batch
    return visits * visit + n_topics * (8.0 * 2.0 * (n_words + visits * of_batch) + state * (1 + beside))
