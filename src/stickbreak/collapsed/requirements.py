"""The memory that a fit needs, checked before any work is done."""

from __future__ import annotations

from stickbreak.collapsed.merging import AT_ONCE, FIRST_LAP
from stickbreak.corpus import Corpus
from stickbreak.fitting.requirements import check_memory

TABLES = 2.0  # of words and topics: S, and that of the topics that are shown
COUNT_BYTES = 28.0  # of a stored count: its word and number, what is held back, where its shares begin
ENTRY_BYTES = 6.0  # of the share of a topic in it
FILLED = 0.7  # of the shares that there may be, are there in the first laps: 10.5 of 15, 65 of 200


def check_tables(corpus: Corpus, n_topics: int, smallest: float, merge_laps: int) -> None:
    """Refuse more topics or more documents than the memory can carry.

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
    check_memory(n_topics, corpus.n_words, needed)
    entries = n_topics if smallest == 0 else FILLED * min(n_topics, 1 / smallest)
    needed += (COUNT_BYTES + ENTRY_BYTES * entries) * corpus.counts.nnz
    kept = f"the shares of {corpus.counts.nnz} pairs of document and word are kept"
    check_memory(
        n_topics,
        corpus.n_words,
        needed,
        f"{kept}; give fewer documents, or fit by HybridHDP (method hybrid), which keeps those of a minibatch",
    )
    if merge_laps >= FIRST_LAP:
        pairs = 8.0 * (AT_ONCE + 1) * n_topics**2
        check_memory(n_topics, corpus.n_words, needed + pairs, "give fewer topics, or merge_laps=0")
