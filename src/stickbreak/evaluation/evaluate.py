"""One call that scores a fitted model on documents."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from stickbreak.corpus import Corpus
from stickbreak.evaluation.coherence import check_options, coherence_of_words
from stickbreak.evaluation.measures import DIVERSITY_WORDS, diversity_of_words, mean_defined
from stickbreak.model.documents import counted_for
from stickbreak.prediction.completion import Completion
from stickbreak.prediction.document_completion import document_completion
from stickbreak.prediction.fitted import FittedTopics
from stickbreak.prediction.left_to_right import LeftToRight
from stickbreak.prediction.topics import as_topics
from stickbreak.prediction.word_pairs import npmi_of_words
from stickbreak.prediction.words import check_same_words


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
        Mean over the topics whose coherence is defined; NaN if there are none.
    mean_npmi : float
        Mean over the topics of the NPMI of their top words, from -1 to 1 (math.md (D7)).
    diversity : float
        Share of different words among the 25 top words of all topics.
    n_documents : int
        Number of documents given, including those too short to be completed.
    seed : int
        Seed of the split into halves, and of the left-to-right likelihood.
    left_to_right : LeftToRight or None
        Left-to-right likelihood, if it was requested.
    """

    completion: Completion
    coherence: NDArray[np.float64]
    mean_coherence: float
    mean_npmi: float
    diversity: float
    n_documents: int
    seed: int
    left_to_right: LeftToRight | None = None


def evaluate(
    model: FittedTopics,
    corpus: Any,
    *,
    seed: int = 0,
    reference: Any = None,
    n_words: int = 10,
    seen: ArrayLike | None = None,
    n_particles: int | None = None,
    resample: bool = True,
) -> Evaluation:
    """Score a fitted model by document completion, and by the coherence and the diversity of its topics.

    If `n_particles` is given, the left-to-right likelihood of the documents is estimated too.

    Parameters
    ----------
    model : fitted model
        Any family, or an object with the attributes of `FittedTopics` (without a left-to-right likelihood).
    corpus : Corpus or texts
        Documents that the model was not fitted on.
    seed : int, default=0
        Seed of the split of each document into two halves (`Corpus.halves`).
    reference : Corpus or texts, optional
        Documents whose co-occurrences define the coherence, usually the training corpus (math.md (D5)). The default
        is `corpus`.
    n_words : int, default=10
        Number of top words that the coherence uses.
    seen : array-like of bool, of shape (n_words_total,), optional
        Words to score in the completion. The default scores all. For the left-to-right likelihood the other words are
        removed from the documents.
    n_particles : int, optional
        Number of samples of each document for its left-to-right likelihood; 20 is usual. By default this likelihood is
        left out, because it takes much longer than the rest.
    resample : bool, default=True
        Whether the left-to-right likelihood draws the topics of earlier tokens again (see `left_to_right`).

    Returns
    -------
    Evaluation
        The scores and what they were measured on.

    Raises
    ------
    InputError
        If the corpus does not have the words of the model, or no document can be completed.
    """
    corpus = counted_for(model, corpus)
    observed, held_out = corpus.halves(seed=seed)
    completion = document_completion(model, observed, held_out, seen=seen)
    topics = as_topics(model)
    check_options(n_words)
    where = corpus if reference is None else counted_for(model, reference)
    check_same_words(topics, where)
    top = topics.top_word_indices(n_words)
    values = coherence_of_words(top, where)
    sequential = None
    if n_particles is not None:
        sequential = topics.left_to_right(
            _only(corpus, seen), n_particles=n_particles, resample=resample, random_state=seed
        )
    return Evaluation(
        completion,
        values,
        mean_defined(values),
        mean_defined(npmi_of_words(top, where)),
        diversity_of_words(topics.top_word_indices(DIVERSITY_WORDS)),
        corpus.n_documents,
        seed,
        sequential,
    )


def _only(corpus: Corpus, seen: ArrayLike | None) -> Corpus:
    """Leave words out of documents."""
    if seen is None:
        return corpus
    counts = sparse.csr_matrix(corpus.counts.multiply(np.asarray(seen, dtype=bool)))
    return Corpus.from_counts(counts, corpus.vocabulary, corpus.names)
