"""One call that scores a fitted model on documents, its document completion, and the score that topics have to beat."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from stickbreak.corpus import Corpus
from stickbreak.evaluation.coherence import check_options, coherence_of_words
from stickbreak.evaluation.measures import DIVERSITY_WORDS, diversity_of_words, mean_defined
from stickbreak.exceptions import InputError, InvalidCorpus
from stickbreak.model.input_documents import counted_for
from stickbreak.prediction.completion import Completion, scored_documents, seen_mask
from stickbreak.prediction.left_to_right import LeftToRight
from stickbreak.prediction.topics import FittedTopics, as_topics
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
        Mean over the topics of the NPMI of their top words, from -1 to 1 (docs/math (D7)).
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
        Documents whose co-occurrences define the coherence, usually the training corpus (docs/math (D5)). The default
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
    check_options(n_words)
    topics, corpus, sequential = as_topics(model), counted_for(model, corpus), None
    if n_particles is not None:
        left_to_right = getattr(model, "left_to_right", None)
        if left_to_right is None:
            raise InputError(
                f"a {type(model).__name__} has no left_to_right; give its topics and prior to "
                "stickbreak.evaluation.left_to_right."
            )
        words = _only(corpus, seen)
        sequential = left_to_right(words, n_particles=n_particles, resample=resample, random_state=seed)
    observed, held_out = corpus.halves(seed=seed)
    completion = document_completion(model, observed, held_out, seen=seen)
    where = corpus if reference is None else counted_for(model, reference)
    check_same_words(topics, where)
    top = topics.top_word_indices(n_words)
    values = coherence_of_words(top, where)
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
    counts = sparse.csr_matrix(corpus.counts.multiply(seen_mask(seen, corpus.n_words)))
    return Corpus.from_counts(counts, corpus.vocabulary, corpus.names)


def document_completion(
    model: FittedTopics, observed: Corpus, held_out: Corpus, *, seen: ArrayLike | None = None
) -> Completion:
    """Score the held-out halves of documents, with topic weights from the observed halves.

    docs/math (D6); Hughes et al. 2015, Eq. 22. The topics stay fixed. Documents with an empty half are left out.

    Parameters
    ----------
    model : fitted model
        Any family, or an object with the attributes of `FittedTopics`.
    observed, held_out : Corpus
        The two halves of the same documents, as `Corpus.halves` returns them.
    seen : array-like of bool, of shape (n_words,), optional
        Words to score, for example those that occurred in training. The default scores all.

    Returns
    -------
    Completion
        Nats per token in both conventions, with the numbers of tokens and documents scored.

    Raises
    ------
    InputError
        If the halves do not belong together or to the model, or no document has tokens in both.
    """
    observed, held_out = Corpus.from_counts(observed), Corpus.from_counts(held_out)
    check_same_words(model, observed)
    check_same_words(model, held_out)
    return as_topics(model).complete(observed, held_out, seen=seen)


def unigram_completion(train: Corpus, observed: Corpus, held_out: Corpus) -> float:
    """Score the frequencies of words on the held-out words that `document_completion` scores.

    A word w has the same probability (n_w + 1) / (N + W) in every document, where n_w of the N tokens of the training
    documents are w, and W is the number of different words. The one that is added gives words without a token there
    a probability, too.

    Parameters
    ----------
    train : Corpus
        The documents that the model was fitted on.
    observed, held_out : Corpus
        The two halves of other documents, as `Corpus.halves` cuts them.

    Returns
    -------
    float
        Held-out log-likelihood in nats per token. ``exp(completion.active - unigram)`` is how many times more probable
        a model makes a held-out word than its frequency does, as a geometric mean.

    Raises
    ------
    InputError
        If the halves do not belong together, the numbers of words differ, or no document has tokens in both halves.

    Examples
    --------
    >>> import numpy as np
    >>> from stickbreak.corpus import Corpus
    >>> train = Corpus.from_counts(np.array([[2, 0], [1, 1]]))
    >>> half = Corpus.from_counts(np.array([[1, 0]]))
    >>> round(float(np.exp(unigram_completion(train, half, half))), 3)  # (3 + 1) / (4 + 2)
    0.667
    """
    train, observed, held_out = (Corpus.from_counts(corpus) for corpus in (train, observed, held_out))
    if train.n_words != held_out.n_words:
        raise InvalidCorpus(
            f"the training documents have {train.n_words} words and the held-out ones {held_out.n_words}; "
            "count both with the same vocabulary."
        )
    scored = np.asarray(held_out.counts[scored_documents(observed, held_out)].sum(axis=0), dtype=np.float64).ravel()
    counts = np.asarray(train.counts.sum(axis=0), dtype=np.float64).ravel() + 1.0
    return float(scored @ np.log(counts / counts.sum()) / scored.sum())
