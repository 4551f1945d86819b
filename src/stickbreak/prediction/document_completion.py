"""Held-out document completion of a fitted model, in both conventions."""

from numpy.typing import ArrayLike

from stickbreak.corpus import Corpus
from stickbreak.prediction.completion import Completion
from stickbreak.prediction.fitted import FittedTopics
from stickbreak.prediction.topics import as_topics
from stickbreak.prediction.words import check_same_words


def document_completion(
    model: FittedTopics, observed: Corpus, held_out: Corpus, *, seen: ArrayLike | None = None
) -> Completion:
    """Score the held-out halves of documents, with topic weights from the observed halves.

    math.md (D6); Hughes et al. 2015, Eq. 22. The topics stay fixed. Documents with an empty half are left out.

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
