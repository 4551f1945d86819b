"""What the hybrid asks of its documents and parameters, checked before any work is done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError
from stickbreak.fitting.hyperparameters import LEARNABLE
from stickbreak.fitting.requirements import check_bytes, check_memory, check_names
from stickbreak.hybrid.global_step import LEAST_TOKENS, check_columns
from stickbreak.hybrid.state import UNBOUNDED
from stickbreak.initialization import STARTS, check_init, sample_bytes
from stickbreak.initialization.start import RANDOM
from stickbreak.numerics.ranges import MEAN_FIELD_ETA
from stickbreak.numerics.stirling import LONGEST_BYTES

TOKEN_BYTES = 24.0  # of a token of a minibatch: its word and topic, and their order
START_BYTES = 28.0  # of a word and a topic at the end of a start: two tables of counts, and the list of pairs


class Parameters(Protocol):
    """The parameters that are checked here."""

    eta: Any
    learn: Sequence[str]
    phi_weight: str
    top_level: str
    grow_vocabulary: bool
    init: Any


def check_parameters(given: Parameters) -> None:
    """Refuse what no fit could make sense of, whatever its documents."""
    if np.ndim(given.eta) == 1:
        _check_eta_by_word(given)
    if given.phi_weight == "mean_field" and np.min(given.eta) < MEAN_FIELD_ETA:
        raise InputError(
            f"eta is {np.min(given.eta):g}, for which exp(psi(eta)) is too small to be represented; "
            f"give {MEAN_FIELD_ETA} or more, or set phi_weight='ratio'."
        )
    check_names("learn", given.learn, LEARNABLE)
    check_init(given.init, (RANDOM, *STARTS))


def _check_eta_by_word(given: Parameters) -> None:
    """Refuse what an eta for each word does not go with."""
    if given.grow_vocabulary:
        raise InputError(
            "eta is one for each word, but grow_vocabulary lets words join that have none; give a number, or the whole "
            "vocabulary and grow_vocabulary=False."
        )
    if given.top_level == UNBOUNDED and given.phi_weight == "mean_field":
        raise InputError(
            "eta is one for each word and top_level is 'unbounded', but a new topic has one weight for all words under "
            "phi_weight='mean_field'; set phi_weight='ratio' or top_level='truncated'."
        )


def lasting(pseudo: sparse.csr_array | None, *, of_seeds: bool) -> sparse.csr_array | None:
    """Return pseudo-counts that no step rounds away: words of seeds have the least that is kept, at least.

    Raises InputError if a row of eta is above its smallest number by less.
    """
    if pseudo is None:
        return None
    found = sparse.csr_array(pseudo, copy=True)
    if not of_seeds and (found.data < LEAST_TOKENS).any():
        raise InputError(
            f"a number of eta is {found.data.min():.3g} above its smallest, but HybridHDP keeps no pseudo-count below "
            f"{LEAST_TOKENS}; give rows whose numbers differ by more, or not at all."
        )
    found.data = np.maximum(found.data, LEAST_TOKENS)
    return found


def check_sizes(given: Parameters, corpus: Corpus, n_topics: int, batch_size: int) -> None:
    """Refuse more topics, or longer documents, than the memory can carry."""
    longest = float(np.max(corpus.document_lengths))
    tokens = LONGEST_BYTES * longest + TOKEN_BYTES * min(float(corpus.n_tokens), longest * batch_size)
    check_bytes(f"a document of {longest:.12g} tokens", tokens, "cut long documents into parts, or scale counts down")
    most_words = int(np.diff(corpus.counts.indptr).max(initial=0))  # of a document
    n_words = min(corpus.n_words, most_words * min(batch_size, corpus.n_documents))
    n_columns = n_topics * (1 + (given.top_level == UNBOUNDED))  # as many again for topics to come
    check_columns(n_words, n_columns, f"n_topics is {n_topics}")
    if isinstance(given.init, str) and given.init == "lda":
        check_memory(n_topics, corpus.n_words, sample_bytes(corpus) + START_BYTES * corpus.n_words * n_topics)
