"""The memory that a fit needs, checked before any work is done."""

from __future__ import annotations

from stickbreak.collapsed.cutting import BLOCK_COUNTS
from stickbreak.collapsed.merging import AT_ONCE
from stickbreak.collapsed.moves import FIRST_MERGE
from stickbreak.corpus import Corpus
from stickbreak.fitting.requirements import check_bytes

# Of words and topics: S, those of the halves or of a mean, and that of the topics that are shown; or where topics form,
# their mean, and in a round their last counts and what judges them.
TABLES = 3.0
COUNT_BYTES = 28.0  # of a stored count: its word and number, what is held out, where its shares begin
ENTRY_BYTES = 6.0  # of the share of a topic in it ...
HALF_BYTES = 8.0  # ... and of its half, before a sweep and after it
MOST_BORN, BORN_BYTES = 1000, 4 * 2.0**30  # topics that births lead to where no number is given: by count and by bytes
FILLED = 0.7  # of the shares that there may be, are there in the first laps: 10.5 of 15, 65 of 200


def check_tables(
    corpus: Corpus,
    n_topics: int,
    smallest: float,
    merge_laps: int,
    *,
    births: bool = False,
    most: int | None = None,
    blocks: int | None = None,
) -> None:
    """Refuse more topics or more documents than the memory can carry.

    Parameters
    ----------
    corpus : Corpus
    n_topics : int
        K at the start.
    smallest : float
        Share of a topic in a stored count that is kept; with 0 all are.
    merge_laps : int
        Laps of the fit in which topics are split and merged.
    births : bool, default=False
        Whether topics are split.
    most : int, optional
        Topics that births are asked to lead to at most. None: nobody asked for more than at the start.
    blocks : int, optional
        Blocks of documents whose shares are in memory at a time, the others in files. None: all.

    Raises
    ------
    InputError
    """
    births &= merge_laps > 0
    K = max(n_topics, most or 0) if births else n_topics
    what = f"{'max_topics' if K > n_topics else 'n_topics'} is {K}: with {corpus.n_words} words it"
    needed = 8.0 * (TABLES + (blocks or 0)) * corpus.n_words * K
    check_bytes(what, needed, "give fewer topics or fewer words")
    entries = K if smallest == 0 else FILLED * (1 / smallest if births else min(K, 1 / smallest))
    of_entry = ENTRY_BYTES + HALF_BYTES * births
    n_counts = corpus.counts.nnz if blocks is None else min(corpus.counts.nnz, blocks * BLOCK_COUNTS[1])
    needed += (COUNT_BYTES + of_entry * entries) * n_counts
    if blocks is None:
        kept = f"the shares of {n_counts} pairs of document and word are kept"
        other = "keep them in files with scratch (--scratch), give fewer documents, or fit by HybridHDP (method hybrid)"
        check_bytes(what, needed, f"{kept}; {other}")
    check_bytes(what, needed, "give fewer topics, or fewer threads by n_jobs (--jobs)")
    if merge_laps >= FIRST_MERGE:
        pairs = 8.0 * (AT_ONCE + 1) * K**2
        check_bytes(what, needed + pairs, "give fewer topics, or merge_laps=0")


def check_formed(n_words: int, n_topics: int) -> None:
    """Refuse topics that form in more memory than there is.

    Raises
    ------
    InputError
    """
    what = f"a fit of these documents begins with {n_topics} topics, which with {n_words} words"
    check_bytes(what, 8.0 * TABLES * n_words * n_topics, "give a smaller max_topics (--max-topics), or fewer words")


def most_topics(n_words: int) -> int:
    """Return how many topics births lead to at most, unless a number is given: the same on every machine."""
    return max(1, min(MOST_BORN, int(BORN_BYTES / (8.0 * TABLES * n_words))))
