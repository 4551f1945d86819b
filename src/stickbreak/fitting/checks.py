"""What every fit asks of its documents and of lists of names, checked before any work is done."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Integral

from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError, InvalidCorpus
from stickbreak.numerics.ranges import MOST_WHOLE
from stickbreak.storage.memory import memory_installed


def check_names(parameter: str, named: Sequence[str], known: Collection[str]) -> None:
    """Refuse names that a parameter does not know, or that it is given twice."""
    for name in named:
        if not isinstance(name, str) or name not in known:
            raise InputError(f"{parameter} names {name!r}; choose from {', '.join(map(repr, known))}.")
        if list(named).count(name) > 1:
            raise InputError(f"{parameter} names {name!r} more than once; give each name once.")


def check_whole(name: str, value: object, least: int) -> int:
    """Return a whole number that is at least `least`, refuse others."""
    if isinstance(value, bool) or not isinstance(value, Integral) or not least <= int(value) <= MOST_WHOLE:
        raise InputError(f"{name} is {value!r}; give a whole number of at least {least}.")
    return int(value)


def check_many(name: str, value: object, bytes_of_each: float) -> int:
    """Return a positive whole number of things that fit into the memory of this machine, refuse others."""
    n = check_whole(name, value, 1)
    check_bytes(f"{name} is {value!r}, which", n * bytes_of_each, "give a smaller number")
    return n


_NOTED: ContextVar[list[float] | None] = ContextVar("noted", default=None)


@contextmanager
def bytes_noted() -> Iterator[list[float]]:
    """Let the checks of a block note the bytes that they are asked about, and refuse none."""
    noted: list[float] = []
    before = _NOTED.set(noted)
    try:
        yield noted
    finally:
        _NOTED.reset(before)


def check_bytes(what: str, needed: float, advice: str) -> None:
    """Refuse what needs more bytes than this machine has."""
    noted = _NOTED.get()
    if noted is not None:
        noted.append(needed)
        return
    installed = memory_installed()
    if needed > installed:
        has = f"about {needed / 2**30:.3g} GiB, more than the {installed / 2**30:.3g} GiB of this machine"
        raise InputError(f"{what} needs {has}; {advice}.")


def check_tokens(corpus: Corpus) -> None:
    """Refuse documents that hold no token."""
    if corpus.n_tokens == 0:
        raise InvalidCorpus("all documents are empty, so there is nothing to learn; give documents with words.")


def adapted_topics(default: int, corpus: Corpus) -> int:
    """Return the default number of topics, or for documents of fewer tokens a quarter of these."""
    n_tokens = corpus.n_tokens
    return default if n_tokens >= default else max(1, math.ceil(n_tokens / 4))


def check_start(corpus: Corpus, n_topics: int) -> None:
    """Refuse more topics to be found in the documents than these hold tokens."""
    if n_topics > corpus.n_tokens:
        advice = " (100 is a good start)" if corpus.n_tokens > 1000 else ""
        raise InputError(
            f"n_topics is {n_topics}, but the documents hold only {corpus.n_tokens:.12g} tokens; "
            f"give fewer topics than tokens{advice}."
        )


def check_most_topics(most: int | None, n_topics: int | None) -> None:
    """Refuse a fit that starts with more topics than it may have."""
    if most is not None and n_topics is not None and most < n_topics:
        raise InputError(
            f"max_topics is {most}, but the fit starts with n_topics={n_topics}; "
            "give a max_topics that is at least as large, or None."
        )


def check_room_beside(most: int, n_topics: int | None, n_kept: int) -> None:
    """Refuse topics of seeds and labels that leave no room for those that the fit starts with."""
    if n_kept and n_topics is not None and n_kept + n_topics > most:
        raise InputError(
            f"the fit starts with {n_kept} topics of seeds and labels and n_topics={n_topics} others, but "
            f"max_topics is {most}; give a larger max_topics, or fewer n_topics."
        )
    if n_kept and n_kept >= most:
        raise InputError(
            f"max_topics is {most}, but seeds and labels have {n_kept} topics, and there is one more at "
            "least; give a larger max_topics, or None."
        )


def check_memory(n_topics: int, n_words: int, needed: float, advice: str = "give fewer topics or fewer words") -> None:
    """Refuse a fit that needs more bytes than this machine has."""
    check_bytes(f"n_topics is {n_topics}: with {n_words} words it", needed, advice)


def check_total(total: int, seen: int) -> None:
    """Refuse a stream of fewer documents than were seen."""
    if total < seen:
        raise InputError(
            f"total_documents is {total}, but this minibatch makes {seen} documents; "
            "give the number of documents of the whole stream, or None to count them."
        )
