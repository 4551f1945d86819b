"""What a chain asks of its documents and parameters, checked before any work is done."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, Protocol

import numpy as np

from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError
from stickbreak.fitting.checks import (
    check_bytes,
    check_most_topics,
    check_names,
    check_room_beside,
    check_whole,
)
from stickbreak.fitting.engine import count_jobs
from stickbreak.fitting.hyperparameters import LEARNABLE
from stickbreak.initialization import STARTS, check_init
from stickbreak.numerics.ranges import LARGEST_PRIOR, SMALLEST_PRIOR
from stickbreak.numerics.stirling import LONGEST_BYTES

INDICATOR, FRANCHISE, PARALLEL = "indicator", "franchise", "partially-collapsed"
REPRESENTATIONS = (INDICATOR, FRANCHISE, PARALLEL)
SPARSE, DENSE = "sparse", "dense"
SAMPLERS = (SPARSE, DENSE)
SEQUENTIAL, RANDOM, SINGLE = "sequential", "random", "single"
TOPIC_MODEL = "topic-model"
CHAIN_STARTS = (SEQUENTIAL, RANDOM, SINGLE)
KNOWN_STARTS = (RANDOM, TOPIC_MODEL, "lda")  # of chains with topics of seeds, labels or rows of eta

RESULT_BYTES = 16.0  # of a word in a topic, of the topics that are shown and of their mean
SAMPLED_BYTES = 4.0  # of a word in a topic, of those drawn at the beginning of a partially collapsed sweep
TOKEN_BYTES = 8.0  # of a token: its word, and its place among those of the word
CHAIN_BYTES = 28.0  # of a token in a chain: topic, topics of its document, counts of its word, topic in the best sample
START_BYTES = 14.0  # of a token where a chain starts: seats, as far as they need more than what follows
TRIAL_BYTES = 36.0  # of a token in the moves of a chain: lists by topic, tables, seats


class Parameters(Protocol):
    """The parameters that are checked here."""

    n_topics: int | None
    max_topics: int | None
    learn: Sequence[str]
    representation: str
    sampler: str
    n_chains: int
    n_jobs: int | None
    split_merge_trials: int
    subtopic_trials: int
    init: Any
    eta: Any
    seeds: Any
    n_laps: int
    burn_in: int | None


def check_parameters(given: Parameters) -> None:
    """Refuse what no chain could make sense of, whatever its documents.

    Raises
    ------
    InputError
    """
    check_names("learn", given.learn, LEARNABLE)
    for name in LEARNABLE:
        _check_prior(f"{name}_prior", getattr(given, f"{name}_prior"))
    if given.sampler == DENSE and given.representation != INDICATOR:
        raise InputError(
            f"sampler is {DENSE!r}, but representation is {given.representation!r}, which has only the sparse one; "
            "set representation='indicator' or sampler='sparse'."
        )
    if given.max_topics is not None:
        _check_limit(given, given.max_topics)
    if given.burn_in is not None and given.burn_in >= given.n_laps:
        raise InputError(f"burn_in is {given.burn_in}, but n_laps is {given.n_laps}; give a burn_in below n_laps.")
    check_init(given.init, (TOPIC_MODEL, *CHAIN_STARTS, *STARTS))


def _check_limit(given: Parameters, most: int) -> None:
    """Refuse a largest number of topics where documents are sampled that do not know of each other's new topics."""
    if given.representation == PARALLEL:
        raise InputError(
            f"max_topics is {most}, but representation is {PARALLEL!r}: documents that are sampled at the same time do "
            "not know of each other's new topics; set another representation, or max_topics=None."
        )
    if isinstance(given.init, str) and given.init not in (SEQUENTIAL, SINGLE):
        check_most_topics(most, given.n_topics)


def check_limit(given: Parameters, n_start: int, n_known: int) -> None:
    """Refuse to start with more topics than there may be: `n_start`, and `n_known` of seeds, labels, rows of eta."""
    if given.max_topics is None:
        return
    check_room_beside(given.max_topics, given.n_topics, n_known)
    if not isinstance(given.init, str) and n_start > given.max_topics:
        raise InputError(
            f"max_topics is {given.max_topics}, but init has {n_start} topics; give a max_topics that is at least as "
            "large, or None."
        )


def check_memory(given: Parameters, corpus: Corpus, n_topics: int) -> None:
    """Refuse more topics or more tokens than the memory can carry."""
    W, N, parallel = corpus.n_words, float(corpus.n_tokens), given.representation == PARALLEL
    needed = (RESULT_BYTES + SAMPLED_BYTES * parallel) * W * n_topics
    longest = float(np.max(corpus.document_lengths))
    of_longest = LONGEST_BYTES * longest / (1 if given.representation == INDICATOR else 3)  # others have no factors
    check_bytes(
        f"a document of {longest:.12g} tokens", of_longest, "cut long documents into parts, or scale counts down"
    )
    check_bytes(f"n_topics is {n_topics}: with {W} words it", needed, "give fewer topics or fewer words")
    at_once = min(given.n_chains, count_jobs(given.n_jobs))
    moving = TRIAL_BYTES if given.subtopic_trials or given.split_merge_trials else START_BYTES
    needed += (TOKEN_BYTES + CHAIN_BYTES * given.n_chains + moving * at_once) * N
    check_bytes(
        f"n_chains is {given.n_chains}: the topics of {N:.12g} tokens are kept, which",
        needed,
        "give fewer documents, or fit by HybridHDP (--method hybrid), which reads them from disk",
    )


def check_known_topics(given: Parameters, n_known: int) -> None:
    """Refuse parameters under which a chain could not have topics that are known before, or an eta for each word.

    Raises
    ------
    InputError
    """
    if np.ndim(given.eta) == 1 and given.representation == PARALLEL:
        raise InputError(
            f"eta is one for each word, but representation {PARALLEL!r} takes one for all; give a number, or another "
            "representation."
        )
    if not n_known:
        return
    known = "seeds" if given.seeds is not None else "rows of eta"
    if not isinstance(given.init, str) or given.init not in KNOWN_STARTS:
        init = repr(given.init) if isinstance(given.init, str) else "a set of topics"
        starts = ", ".join(map(repr, KNOWN_STARTS))
        raise InputError(f"init is {init}, but a chain with {known} starts with one of {starts}; give one of these.")


def check_labelled(given: Parameters) -> None:
    """Refuse parameters under which documents could not have labels.

    Raises
    ------
    InputError
    """
    if given.representation != PARALLEL:
        raise InputError(
            f"labels are given, but representation is {given.representation!r}, in which all documents have weights of "
            f"one law; set representation={PARALLEL!r} (--set representation={PARALLEL})."
        )
    if given.split_merge_trials:
        raise InputError(
            "labels are given, but the trials of Wang and Blei do not know them; set split_merge_trials=0."
        )
    if given.init not in KNOWN_STARTS:
        raise InputError(f"topics of labels begin with init in {', '.join(map(repr, KNOWN_STARTS))}; give one.")


def check_continuation(n_laps: int, burn_in: int | None, *, done: int, burn_in_before: int) -> None:
    """Refuse further sweeps that are none, and a burn-in that ends among the sweeps done or leaves no sample.

    Raises
    ------
    InputError
    """
    check_whole("n_laps", n_laps, 1)
    if burn_in is None:
        return
    check_whole("burn_in", burn_in, 0)
    if burn_in != burn_in_before and burn_in < done:
        raise InputError(
            f"burn_in is {burn_in}, but {done} sweeps are done, whose samples can only be dropped together; "
            f"give {done} or more."
        )
    if burn_in >= done + n_laps:
        raise InputError(
            f"burn_in is {burn_in}, but there will be {done + n_laps} sweeps in all; give more sweeps or "
            "a smaller burn_in."
        )


def _check_prior(name: str, prior: Sequence[Any]) -> None:
    """Refuse what is not a pair of a shape and a rate."""
    numbers = len(prior) == 2 and all(isinstance(x, Real) and not isinstance(x, bool) for x in prior)
    if not numbers or not all(SMALLEST_PRIOR <= x <= LARGEST_PRIOR for x in prior):
        raise InputError(
            f"{name} is {prior!r}; give the shape and the rate of a Gamma distribution, both from "
            f"{SMALLEST_PRIOR:g} to {LARGEST_PRIOR:g}."
        )
