"""What LDA asks of its documents and parameters, checked before any work is done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from stickbreak.baselines.lda.learning import LEARNABLE
from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError
from stickbreak.fitting.requirements import check_bytes, check_memory, check_names

INFERENCES = GIBBS, COLLAPSED, VARIATIONAL = ("gibbs", "cvb0", "variational")
MOST_TOPICS = 1 << 16  # topics of tokens are stored in two bytes
SMALLEST_ETA = 0.002  # exp(psi(eta)) is 7e-218
TABLES = 4.0  # of words and topics: those of a lap, the mean before and after it, and the topics that are shown
TOKEN_BYTES = 24.0  # of a token: its list, its topic, an entry of a list, and what is there while these are made
LABEL_BYTES = 64.0  # of a token of documents with labels, while it is found which topics it may have
COUNT_BYTES = 120.0  # of a stored count: its shares of topics, before and after a lap
WEIGHTS = 32.0  # of a document and a topic: parameters, weights, and what is there while the bound is found


class Parameters(Protocol):
    """The parameters that are checked here."""

    eta: Any
    learn: Sequence[str]
    inference: str
    batch_size: int | None


def check_parameters(given: Parameters) -> None:
    """Refuse what no fit could make sense of, whatever its documents.

    Raises
    ------
    InputError
    """
    check_names("learn", given.learn, LEARNABLE)
    if given.inference == VARIATIONAL:
        check_eta(given.eta)
    elif given.batch_size is not None:
        raise InputError(
            f"batch_size is {given.batch_size}, but inference is {given.inference!r}, which has no minibatches; "
            "set inference='variational' (--inference variational), or leave batch_size out."
        )


def check_eta(eta: Any) -> None:
    """Refuse an eta that variational inference cannot work with."""
    if np.min(eta) < SMALLEST_ETA:
        raise InputError(
            f"eta is {np.min(eta)}, for which exp(psi(eta)) of variational inference is too small to be represented; "
            f"give {SMALLEST_ETA} or more, or fit with inference='gibbs' (--inference gibbs)."
        )


def check_sizes(given: Parameters, corpus: Corpus, n_topics: int, *, labelled: bool) -> None:
    """Refuse more topics or documents than the memory can carry; documents may have labels.

    Raises
    ------
    InputError
    """
    needed = 8.0 * TABLES * corpus.n_words * n_topics
    check_memory(n_topics, corpus.n_words, needed)
    if given.inference == GIBBS:
        needed += (TOKEN_BYTES + (LABEL_BYTES if labelled else 0.0)) * float(corpus.n_tokens)
    elif given.inference == COLLAPSED:
        needed += COUNT_BYTES * corpus.counts.nnz
    elif given.batch_size is None:
        needed += WEIGHTS * corpus.n_documents * n_topics
    what = f"n_topics is {n_topics}: with {corpus.n_documents} documents of {corpus.n_tokens:.12g} tokens it"
    check_bytes(what, needed, "give fewer topics or fewer documents")
