"""Labels that a reader gives to topics: saved with the model, and kept while a topic keeps its number."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from stickbreak.exceptions import InputError
from stickbreak.numerics.arrays import Float
from stickbreak.prediction.topics import FlatTopics
from stickbreak.prediction.words import relevant_words
from stickbreak.questions.documents import best_documents
from stickbreak.questions.labels import LONGEST, MOST_TOPICS, is_label, kept_labels
from stickbreak.storage.persistence import replace_value
from stickbreak.storage.places import PathLike

Model = TypeVar("Model", bound=FlatTopics)
Namer = Callable[[list[str], list[str]], str]


def label(
    model: Model,
    names: Mapping[int, str | None] | Namer,
    *,
    X: Any = None,
    texts: Sequence[str] | Callable[[Sequence[int]], list[str]] | None = None,
    n_words: int = 10,
    n_texts: int = 3,
) -> Model:
    """Give labels to topics. They are saved with the model, and take the place of words in all tables.

    Topics without a label of their own show their most relevant words. `continue_fit` and `partial_fit` keep the
    labels of topics that keep their number, a new `fit` drops all of them.

    Parameters
    ----------
    names : mapping of int to str or None, or callable
        Labels by topic; None takes one away. A callable is called for every topic, with a list of its most relevant
        words and a list of example texts, and returns the label: so a language model can name topics.
    X : Corpus, sparse matrix or array of shape (D, W), optional
        For a callable: documents of which those with most of the topic are the examples.
    texts : sequence of str of length D, or callable, optional
        For a callable: the texts of X, or a function from rows to texts. Without them the list of texts is empty.
    n_words, n_texts : int
        For a callable: the numbers of words and of texts, at most.

    Returns
    -------
    model

    Raises
    ------
    InputError
        If there is no such topic, two labels are alike, or a label is not a text in one line.
    """
    known = model.labels_
    given = dict(names) if isinstance(names, Mapping) else _named_by(model, names, X, texts, n_words, n_texts)
    merged = {**known, **checked_labels(model, given)}
    kept = {k: label for k, label in sorted(merged.items()) if label is not None}
    refuse_alike(kept)
    model._labels = kept
    return model


def _named_by(model: FlatTopics, namer: Any, X: Any, texts: Any, n_words: int, n_texts: int) -> dict[int, str | None]:
    """Ask a callable for the label of every topic."""
    if not callable(namer):
        raise InputError(f"names is {namer!r:.40}; give labels by topic ({{3: 'encryption'}}) or a callable.")
    shown = model.shown_topics(n_words, most=MOST_TOPICS).numbers
    words = [[str(model.vocabulary_[w]) for w in row] for row in relevant_words(model, shown, n_words)]
    if X is None or texts is None:
        return {int(k): namer(row, []) for k, row in zip(shown, words, strict=True)}
    corpus = model._corpus(X)
    rows, _ = best_documents(model, corpus, shown, n_texts)
    found: dict[int, str | None] = {}
    for k, row, best in zip(shown, words, rows, strict=True):
        chosen = [int(d) for d in best if d >= 0]
        found[int(k)] = namer(row, texts(chosen) if callable(texts) else [texts[d] for d in chosen])
    return found


def checked_labels(model: FlatTopics, given: Mapping[Any, Any]) -> dict[int, str | None]:
    """Refuse what cannot be the label of a topic."""
    for k, label in given.items():
        if not isinstance(k, int | np.integer) or isinstance(k, bool):
            raise InputError(f"a label is for {k!r}; give the number of a topic.")
        if label is None:
            continue
        if not is_label(label):
            raise InputError(f"the label of topic {k} is {label!r:.60}; give one line of at most {LONGEST} characters.")
    if given:
        model.word_distributions([int(k) for k in given])  # refuses a number that is none of a topic
    return {int(k): label.strip() if label else None for k, label in given.items()}


def refuse_alike(labels: Mapping[int, str]) -> None:
    """Refuse two topics with one label."""
    number: dict[str, int] = {}
    for k, label in labels.items():
        if label in number:
            raise InputError(f"topics {number[label]} and {k} have the same label {label!r}; give each its own.")
        number[label] = k


def labels_kept(model: FlatTopics, labels: Mapping[int, str], before: Float) -> dict[int, str]:
    """Return the labels of topics that kept their number when a model changed; `before` are their words then."""
    numbers = np.union1d(model.shown_topics(1, most=MOST_TOPICS).numbers, [k for k in labels if model.is_topic(k)])
    kept = kept_labels(labels, before, model.word_distributions(numbers), numbers)
    return {k: label for k, label in labels.items() if model._keeps_number(k) or k in kept}


def save_labels(model: FlatTopics, path: PathLike) -> None:
    """Write the labels of a model into the folder that it is saved in; all else there stays as it is."""
    replace_value(path, "labels", {str(k): label for k, label in model.labels_.items()})
