"""Where the topics of a fit come from, if not from the start that was asked for."""

from __future__ import annotations

from stickbreak.collapsed.sampled_start import TOPICS as SAMPLED
from stickbreak.collapsed.second_start import TOPICS as SECOND
from stickbreak.fitting.loop import logger

ORIGINS = {
    "asked": "",
    "companions": "words that occur in the same documents",  # math.md (C25), (C26)
    "second": f"a second start from {SECOND} random topics at most",  # math.md (C14)
    "sampled": f"a second start from {SAMPLED} random topics at most",  # math.md (C16)
}


def told_of_origin(origin: str, n_topics: int | None) -> str:
    """Return a sentence on it for the reason why a fit ended; warn where a number of topics was asked for.

    Parameters
    ----------
    origin : str
        A key of `ORIGINS`.
    n_topics : int or None
        The parameter.
    """
    found = ORIGINS[origin]
    if not found:
        return ""
    if n_topics is not None:
        logger.warning(
            "the topics come from %s, not from the start with n_topics=%d (--topics); LDA (--method lda) has as many "
            "topics as it is given, and found topics can be joined to fewer (stickbreak reduce, or reduced)",
            found, n_topics,
        )  # fmt: skip
    return f" The topics come from {found}."
