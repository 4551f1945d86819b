"""All scores of the topics of a model, one topic in each row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from stickbreak.corpus.metadata import in_tables
from stickbreak.evaluation.coherence import check_options, coherence_of_words
from stickbreak.evaluation.evaluate import document_completion
from stickbreak.evaluation.measures import (
    WINDOW,
    exclusivity,
    mean_cosine,
    mean_defined,
    topic_diversity,
)
from stickbreak.exceptions import InputError
from stickbreak.fitting.checks import check_whole
from stickbreak.model.input_documents import counted_for, texts_and_options
from stickbreak.numerics.arrays import Float
from stickbreak.prediction.topics import FittedTopics
from stickbreak.prediction.word_pairs import WordPairs, check_window, npmi_of_words, word_sequences
from stickbreak.prediction.words import check_same_words, top_word_indices

if TYPE_CHECKING:
    import pandas as pd


def topic_scores(
    model: Any,
    X: Any,
    *,
    texts: Iterable[str] | Iterable[Sequence[str]] | None = None,
    n_words: int = 10,
    window: int = WINDOW,
) -> pd.DataFrame:
    """Return the scores of each topic that papers report.                         docs/math (D5), (D7), (D8)

    Give the documents of the fit for scores in sample, others for held-out ones, or a large reference collection.

    Parameters
    ----------
    model : fitted model of words
    X : Corpus, sparse matrix or array of shape (D, W), or texts
        The documents whose words are counted.
    texts : iterable of str, or of sequences of str, optional
        The texts for C_V, which needs the order of the words; or the words of each text. The default is X, if it holds
        texts; else the table has no C_V.
    n_words : int, default=10
        Number of top words of a topic.
    window : int, default=110
        Words in a window of C_V.

    Returns
    -------
    DataFrame
        A row for each topic; of a tree for its 100 largest leaves: topic, label, share (of the tokens of the fit),
        npmi, umass (`coherence`, in nats), c_v (where there are texts), exclusivity and words. What is said of the
        whole is in its ``attrs``: diversity (`topic_diversity` of 25 words), mean_npmi, mean_umass, mean_c_v and
        documents.

    Raises
    ------
    InputError
        If the documents do not have the words of the model, or an argument is out of range.
    """
    import pandas as pd

    check_options(n_words)
    check_whole("n_words", n_words, 2)
    check_window(window)
    asked, (found, options) = model.labelled_topics(), texts_and_options(model, X)
    ordered = found if texts is None else texts
    corpus = counted_for(model, X)
    check_same_words(model, corpus)
    if not corpus.n_documents:
        raise InputError("X holds no documents; scores of topics need documents to count words in.")
    phi = model.word_distributions(asked.numbers)
    top = top_word_indices(phi, n_words).astype(np.int64)
    shown = model.topics_table(n_words=n_words)
    scores: dict[str, Float] = {
        "npmi": npmi_of_words(top, corpus),
        "umass": coherence_of_words(top, corpus),
    }
    if ordered is not None:
        sequences = word_sequences(ordered, options)
        scores["c_v"] = mean_cosine(WordPairs.in_windows(top, model.vocabulary_, sequences, window))
    words = in_tables([" ".join(model.vocabulary_[w] for w in row) for row in top])
    columns = {name: shown[name] for name in ("topic", "label", "share")}
    table = pd.DataFrame({**columns, **scores, "exclusivity": exclusivity(phi, n_words), "words": words})
    table.attrs = {
        "documents": corpus.n_documents,
        "diversity": topic_diversity(phi),
        **{f"mean_{name}": mean_defined(values) for name, values in scores.items()},
    }
    return table


def per_word_likelihood(model: FittedTopics, X: Any) -> float:
    """Return the log-likelihood of a word, given weights that are estimated on the same words.

    This is the figure of Burkhardt and Kramer 2017 (Eq. 26). It grows with the number of topics, because a document
    chooses its weights after its words were seen. Use `document_completion` to choose between models.

    Parameters
    ----------
    model : fitted model
    X : Corpus, sparse matrix or array of shape (D, W), or texts
        Documents that the model was not fitted on.

    Returns
    -------
    float
        Σ_d Σ_w n_dw log Σ_k φ_kw θ_dk / Σ_d N_d, in nats per token.

    Raises
    ------
    InputError
        If the documents do not have the words of the model, or have no tokens.
    """
    corpus = counted_for(model, X)
    return float(document_completion(model, corpus, corpus).active)
