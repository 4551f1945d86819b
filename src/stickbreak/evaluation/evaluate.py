"""One call that scores a fitted model on documents."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stickbreak.corpus import Corpus
from stickbreak.evaluation.coherence import coherence
from stickbreak.inference.document_completion import Completion, document_completion
from stickbreak.inference.fitted import FittedTopics


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Scores of a fitted model on a corpus.

    Attributes
    ----------
    completion : Completion
        Held-out document completion, in both conventions.
    coherence : ndarray of shape (n_topics,)
        Coherence of each topic (nats; NaN where undefined).
    mean_coherence : float
        Mean over the topics that have one; NaN if none has.
    n_documents : int
        Documents given, with the ones too short to be completed.
    seed : int
        Seed of the split into halves.
    """

    completion: Completion
    coherence: NDArray[np.float64]
    mean_coherence: float
    n_documents: int
    seed: int


def evaluate(
    model: FittedTopics,
    corpus: Corpus,
    *,
    seed: int = 0,
    reference: Corpus | None = None,
    n_words: int = 10,
    seen: ArrayLike | None = None,
) -> Evaluation:
    """Score a fitted model: completion of every document from its first half, and coherence of the topics.

    Parameters
    ----------
    model : fitted model
        Any family.
    corpus : Corpus
        Documents that the model has not been fitted on.
    seed : int, default=0
        Seed of the split of each document into two halves (`Corpus.halves`).
    reference : Corpus, optional
        Documents whose co-occurrences define the coherence: the training corpus for SPEC 5. The default is
        `corpus`.
    n_words : int, default=10
        Top words of the coherence.
    seen : array-like of bool, of shape (n_words_total,), optional
        Words to score in the completion; the default scores all.

    Returns
    -------
    Evaluation
        The scores and what they were measured on.

    Raises
    ------
    InputError
        If the corpus does not have the words of the model, or nothing in it can be completed.
    """
    corpus = Corpus.from_counts(corpus)
    observed, held_out = corpus.halves(seed=seed)
    completion = document_completion(model, observed, held_out, seen=seen)
    values = coherence(model.topic_word_, corpus if reference is None else reference, n_words)
    defined = values[~np.isnan(values)]
    mean = float(defined.mean()) if defined.size else float("nan")
    return Evaluation(completion, values, mean, corpus.n_documents, seed)
