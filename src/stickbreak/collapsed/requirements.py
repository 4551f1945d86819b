"""The memory that a fit needs, checked before any work is done."""

from __future__ import annotations

from stickbreak.collapsed.merging import AT_ONCE, FIRST_LAP
from stickbreak.corpus import Corpus
from stickbreak.inference.requirements import check_memory

TABLES = 2.0  # of words and topics: S, and that of the topics that are shown
ENTRY_BYTES = 6.0  # of the share of a topic in a stored count


def check_tables(corpus: Corpus, n_topics: int, smallest: float, merge_laps: int) -> None:
    """Refuse more topics than the memory can carry.

    Parameters
    ----------
    corpus : Corpus
    n_topics : int
        K at the start.
    smallest : float
        Share of a topic in a stored count that is kept; with 0 all are.
    merge_laps : int
        Laps of the fit in which topics are merged.

    Raises
    ------
    InputError
    """
    needed = 8.0 * TABLES * corpus.n_words * n_topics
    if smallest == 0:
        needed += ENTRY_BYTES * corpus.counts.nnz * n_topics
    check_memory(n_topics, corpus.n_words, needed)
    if merge_laps >= FIRST_LAP:
        pairs = 8.0 * (AT_ONCE + 1) * n_topics**2
        check_memory(n_topics, corpus.n_words, needed + pairs, "give fewer topics, or merge_laps=0")
