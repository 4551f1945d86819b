"""What the hybrid asks of its documents and parameters, checked before any work is done."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError
from stickbreak.hybrid.starts import RANDOM
from stickbreak.inference.memory import memory_installed
from stickbreak.inference.requirements import check_start, check_tokens
from stickbreak.initialization import STARTS

SMALLEST_ETA = 0.002  # exp(psi(eta)) is 7e-218


class Parameters(Protocol):
    """The parameters that are checked here."""

    n_topics: int
    batch_size: int
    eta: float
    phi_weight: str
    init: Any


def check_parameters(given: Parameters, corpus: Corpus) -> None:
    """Refuse what no fit could make sense of, and more topics than the memory can carry.

    Raises
    ------
    InvalidCorpus, InputError
    """
    if given.phi_weight == "mean_field" and given.eta < SMALLEST_ETA:
        raise InputError(
            f"eta is {given.eta}, for which exp(psi(eta)) is no number that can be computed with; "
            f"give {SMALLEST_ETA} or more, or set phi_weight='ratio'."
        )
    check_tokens(corpus)
    n_topics = given.n_topics if isinstance(given.init, str) else len(given.init)
    longest = int(np.diff(corpus.counts.indptr).max(initial=0))  # words of a document
    words = min(corpus.n_words, longest * min(given.batch_size, corpus.n_documents))
    needed, installed = 8.0 * 2.0 * words * n_topics, memory_installed()  # the weights of words, twice for mean field
    if needed > installed:
        raise InputError(
            f"n_topics is {n_topics}: with up to {words} words in a minibatch it needs about {needed / 2**30:.3g} GiB, "
            f"more than the {installed / 2**30:.3g} GiB of this machine; give fewer topics or smaller minibatches."
        )
    if isinstance(given.init, str):
        if given.init not in (RANDOM, *STARTS):
            known = ", ".join(map(repr, (RANDOM, *STARTS)))
            raise InputError(f"init is {given.init!r}; give one of {known}, or an array of topics (K, W).")
        if given.init != RANDOM:
            check_start(corpus, n_topics)
