"""Held-out document completion of a fitted model, in both conventions."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError
from stickbreak.prediction.completion import completion_log_likelihood
from stickbreak.prediction.fitted import FittedTopics, document_blocks
from stickbreak.prediction.words import check_same_words


@dataclass(frozen=True, slots=True)
class Completion:
    """Score of a document completion.

    Attributes
    ----------
    active : float
        Nats per held-out token with the weights of the active topics renormalised (comparable with models of
        a fixed number of topics; the default convention).
    with_inactive : float
        Nats per held-out token with all K + 1 weights, the inactive mass spread as the prior mean word
        distribution.
    n_tokens : float
        Held-out tokens scored.
    n_documents : int
        Documents with tokens in both halves; only these are scored.
    """

    active: float
    with_inactive: float
    n_tokens: float
    n_documents: int

    @property
    def perplexity(self) -> float:
        """Perplexity per token, ``exp(-active)`` (SPEC 5)."""
        return math.exp(-self.active) if self.active > -700 else math.inf


def document_completion(
    model: FittedTopics, observed: Corpus, held_out: Corpus, *, seen: ArrayLike | None = None
) -> Completion:
    """Score how a model completes documents: weights from the observed halves, tokens of the held-out halves.

    SPEC 5; Hughes et al. 2015, Eq. 22. The globals stay fixed. Documents with an empty half are left out.

    Parameters
    ----------
    model : fitted model
        Any family.
    observed, held_out : Corpus
        The two halves of the same documents, as `Corpus.halves` cuts them.
    seen : array-like of bool, of shape (n_words,), optional
        Words to score, for example those that occurred in training; the default scores all.

    Returns
    -------
    Completion
        Nats per token in both conventions, and what they were measured on.

    Raises
    ------
    InputError
        If the halves do not belong together or to the model, or no document has tokens in both.
    """
    observed, held_out = Corpus.from_counts(observed), Corpus.from_counts(held_out)
    check_same_words(model, observed)
    check_same_words(model, held_out)
    if observed.n_documents != held_out.n_documents:
        raise InputError(
            f"the observed half has {observed.n_documents} documents and the held-out half "
            f"{held_out.n_documents}; give the two halves of the same documents, as Corpus.halves makes them."
        )
    complete = getattr(model, "complete", None)
    if complete is not None:
        completion: Completion = complete(observed, held_out, seen=seen)
        return completion
    scored = np.flatnonzero((observed.document_lengths > 0) & (held_out.document_lengths > 0))
    if scored.size == 0:
        raise InputError(
            "no document has tokens in both halves, so there is nothing to complete; "
            "give documents of two words or more."
        )
    active = inactive = n_tokens = 0.0
    n_topics = model.topic_word_.shape[0]
    for block in document_blocks(scored.size, n_topics):
        rows = scored[block]
        weights = np.asarray(model.expected_weights(observed[rows]), dtype=np.float64)
        counts = held_out[rows].counts
        renormalised = weights[:, :n_topics] / weights[:, :n_topics].sum(axis=1, keepdims=True)
        total, tokens = completion_log_likelihood(renormalised, model.topic_word_, counts, seen=seen)
        active += total
        n_tokens += tokens
        inactive += completion_log_likelihood(
            weights, model.topic_word_, counts, rest_word=model.rest_word_, seen=seen
        )[0]
    if n_tokens == 0:
        raise InputError("none of the held-out words is among the seen ones, so there is nothing to score.")
    return Completion(active / n_tokens, inactive / n_tokens, n_tokens, int(scored.size))
