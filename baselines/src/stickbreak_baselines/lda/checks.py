"""What LDA asks of its documents and parameters, checked before any work is done."""

from __future__ import annotations

from typing import Any

import numpy as np

from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError
from stickbreak.fitting.checks import check_bytes, check_memory
from stickbreak.numerics.ranges import MEAN_FIELD_ETA

TABLES = 4.0  # of words and topics: those of a lap, those before and after it, and the topics that are shown
WEIGHTS = 32.0  # of a document and a topic: parameters, weights, and what is there while the bound is found


def check_eta(eta: Any) -> None:
    """Refuse an eta that variational inference cannot work with."""
    if np.min(eta) < MEAN_FIELD_ETA:
        raise InputError(
            f"eta is {np.min(eta)}, for which exp(psi(eta)) of variational inference is too small to be represented; "
            f"give {MEAN_FIELD_ETA} or more, or take TopicModel(n_topics=...) (--method topics)."
        )


def check_sizes(batch_size: int | None, corpus: Corpus, n_topics: int) -> None:
    """Refuse more topics or documents than the memory can carry.

    Raises
    ------
    InputError
    """
    needed = 8.0 * TABLES * corpus.n_words * n_topics
    check_memory(n_topics, corpus.n_words, needed)
    if batch_size is None:
        needed += WEIGHTS * corpus.n_documents * n_topics
    what = f"n_topics is {n_topics}: with {corpus.n_documents} documents of {corpus.n_tokens:.12g} tokens it"
    check_bytes(what, needed, "give fewer topics or fewer documents")
