"""What Pachinko allocation asks of its documents and parameters, checked before any work is done."""

from __future__ import annotations

from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError
from stickbreak.fitting.checks import check_bytes, check_memory
from stickbreak_baselines.pachinko.state import Paths

MOST_PATHS = 1 << 24  # a path has a number of at most 28 bits, beside which a list has room for counts
TABLES = 4.0  # of words and topics: those of a lap, the mean before and after it, and the topics that are shown
TOKEN_BYTES = (
    36.0  # of a token: its list, document and path, an entry of a list, and what is there while these are made
)


def check_sizes(corpus: Corpus, paths: Paths) -> None:
    """Refuse more topics or documents than the memory can carry.

    Raises
    ------
    InputError
    """
    if paths.is_open.size > MOST_PATHS:
        raise InputError(
            f"there would be {paths.is_open.size:,} paths from super-topics to topics; give fewer super-topics or "
            f"topics, for at most {MOST_PATHS:,} paths."
        )
    needed = 8.0 * (TABLES * corpus.n_words * paths.n_topics + 6.0 * paths.is_open.size)
    check_memory(paths.n_topics, corpus.n_words, needed)
    needed += TOKEN_BYTES * float(corpus.n_tokens) + 4.0 * corpus.n_documents * paths.n_super
    what = f"n_topics is {paths.n_topics}: with {corpus.n_documents} documents of {corpus.n_tokens:.12g} tokens it"
    check_bytes(what, needed, "give fewer topics or fewer documents")
