"""What word frequencies alone predict: the score that topics have to beat."""

import numpy as np

from stickbreak.corpus import Corpus
from stickbreak.exceptions import InvalidCorpus
from stickbreak.prediction.completion import scored_documents


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
