"""The topics of a model as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stickbreak.corpus import Corpus
from stickbreak.corpus.metadata import in_tables
from stickbreak.fitting.checks import check_whole
from stickbreak.prediction.topics import FlatTopics
from stickbreak.prediction.word_pairs import npmi_of_words
from stickbreak.prediction.words import top_word_indices
from stickbreak.questions.documents import keep_best, wilson_lower_bound
from stickbreak.questions.labels import labelled_topics
from stickbreak.questions.weights import weight_blocks

if TYPE_CHECKING:
    import pandas as pd

_EXAMPLES = 3
_COHERENCE_WORDS = 10


def topics_table(model: FlatTopics, X: Any = None, *, n_words: int = 10) -> pd.DataFrame:
    """Return the topics, one in each row.

    Parameters
    ----------
    X : Corpus, sparse matrix or array of shape (D, W), optional
        Documents to be described, too.
    n_words : int, default=10
        Maximum number of words of each topic.

    Returns
    -------
    DataFrame
        Columns: topic (its number), label, share (of the tokens of the fit), corpus_weight (the share that the
        model expects in a new collection) and words (the most relevant). With X also coherence (NPMI of the ten
        most probable words in X), mean_weight (over X, weighted by tokens), documents (in which the topic is the
        largest) and examples (names of the documents that show it best).
    """
    import pandas as pd

    asked = labelled_topics(model)
    corpus, numbers = None if X is None else model._corpus(X), asked.numbers
    check_whole("n_words", n_words, 1)
    shown = model.shown_topics(n_words, most=max(numbers.size, 1))
    order = {int(k): i for i, k in enumerate(shown.numbers)}
    at = np.array([order[int(k)] for k in numbers], dtype=np.int64)
    words = in_tables([" ".join(word for word, _ in shown.words[i]) for i in at])
    columns = {
        "topic": numbers,
        "label": list(asked.labels),
        "share": shown.shares[at],
        "corpus_weight": shown.weights[at],
        "words": words,
    }
    if corpus is not None:
        columns |= _in_documents(model, corpus, numbers)
    return pd.DataFrame(columns)


def _in_documents(topics: FlatTopics, corpus: Corpus, numbers: np.ndarray) -> dict[str, object]:
    """Return the columns that a corpus adds."""
    lengths = np.asarray(corpus.document_lengths, dtype=np.float64)
    tokens, largest = np.zeros(numbers.size), np.zeros(numbers.size, dtype=np.int64)
    shape = numbers.size, min(_EXAMPLES, len(corpus))
    best = np.full(shape, -1, dtype=np.int64), np.full(shape, -np.inf), np.zeros(shape)
    for rows, weights in weight_blocks(topics, corpus, numbers, np.flatnonzero(lengths > 0)):
        N = lengths[rows]
        tokens += N @ weights
        led = weights.max(axis=1) > 0  # of a tree, documents may have none of the topics shown
        largest += np.bincount(weights[led].argmax(axis=1), minlength=numbers.size)
        keep_best(best, rows, wilson_lower_bound(weights, N[:, None]), weights)
    names, total = corpus.names_in_tables, lengths.sum()
    top = top_word_indices(topics.word_distributions(numbers), _COHERENCE_WORDS)
    return {
        "coherence": npmi_of_words(top.astype(np.int64), corpus),
        "mean_weight": tokens / total if total else tokens,
        "documents": largest,
        "examples": [", ".join(names[d] for d in row if d >= 0) for row in best[0]],
    }
