"""Labels of documents: one or several for each, each of them a topic (docs/math (L10)), and how they are predicted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from numbers import Integral, Number
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted

from stickbreak.corpus import Corpus
from stickbreak.corpus.text_columns import column_of as column_of_frame
from stickbreak.corpus.text_columns import is_frame
from stickbreak.exceptions import InputError
from stickbreak.fitting.checkpoint import require
from stickbreak.numerics.arrays import Float, Int, Int32
from stickbreak.numerics.streams import stream
from stickbreak.questions.columns import column_of, listed
from stickbreak.questions.labels import is_label

if TYPE_CHECKING:
    import pandas as pd

LABELLED = 0.5  # prior share of a labelled document that its labels have; the free topics have the rest
LIKELY = 0.5  # probability of a label that is predicted
MOST_DOCUMENTS = 5000  # that the curve is fitted to
LEAST_WEIGHT = 1e-4  # smaller weights of a topic say no more
RIDGE = 1e-3  # of a and b: a perfect separation has no other limit
STEPS = 100
_KINDS = (str, Number, np.generic, date)  # of one label


@dataclass(frozen=True, slots=True)
class DocumentLabels:
    """The labels of documents, as the numbers of their topics: document d has topic[start[d]:start[d + 1]]."""

    start: Int  # (D + 1,)
    topic: Int32  # (start[-1],)  none twice in a document
    n_labels: int  # topics 0 to n_labels - 1 are those of labels

    @classmethod
    def of(cls, rows: list[list[int]], n_labels: int) -> Self:
        """Return the labels of documents that are given as lists of topics."""
        start = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)
        return cls(start, np.array([k for row in rows for k in row], dtype=np.int32), n_labels)

    @classmethod
    def restored(cls, start: NDArray, topic: NDArray, n_labels: int, n_documents: int) -> Self:
        """Return stored labels; a ValueError for what cannot be those of `n_documents` documents."""
        whole = start.dtype == np.int64 and topic.dtype == np.int32 and start.shape == (n_documents + 1,)
        require(whole and topic.ndim == 1, "the labels of its documents are damaged")
        ordered = start[0] == 0 and start[-1] == topic.size and bool((np.diff(start) >= 0).all())
        inside = not topic.size or (topic.min() >= 0 and topic.max() < n_labels)
        require(ordered and inside, "the labels of its documents are damaged")
        return cls(start.copy(), topic.copy(), n_labels)

    def sample(self, rows: Int) -> Self:
        """Return the labels of some documents."""
        size = np.diff(self.start)[rows]
        start = np.concatenate(([0], np.cumsum(size)))
        place = np.repeat(self.start[rows] - start[:-1], size) + np.arange(start[-1])
        return replace(self, start=start, topic=self.topic[place])

    def has(self, topic: NDArray[np.integer], document: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Tell of each token whether its topic is that of a label of its document."""
        pairs = np.repeat(np.arange(self.start.size - 1), np.diff(self.start)) * self.n_labels + self.topic
        return (topic < self.n_labels) & np.isin(document.astype(np.int64) * self.n_labels + topic, pairs)

    def allowed(
        self, topic: NDArray[np.integer], document: NDArray[np.integer], rng: np.random.Generator
    ) -> NDArray[np.integer]:
        """Return topics of tokens to start from: of documents with labels, each label is as likely as the given topic.

        A given topic that is a label stays where the document has it, and goes where it lacks it.

        Parameters
        ----------
        topic, document : ndarray of int, of shape (N,)
        rng : Generator
        """
        n_own, is_label = np.diff(self.start)[document], topic < self.n_labels
        n_allowed = n_own + ~is_label  # the last one: the given topic, if it is free
        which = (rng.random(topic.size) * n_allowed).astype(np.int64)
        change = (which < n_own) & ~self.has(topic, document)
        place, found = self.start[:-1][document] + which, topic.copy()
        found[change] = self.topic[place[change]]
        return found

    def check_allowed(self, topic: NDArray[np.integer], document: NDArray[np.integer]) -> None:
        """Refuse topics of tokens that their documents cannot have; a ValueError."""
        lacks = (np.diff(self.start)[document] > 0) & (topic < self.n_labels) & ~self.has(topic, document)
        require(not lacks.any(), "a token has the topic of a label that its document lacks")

    def weights(self, first: int, n: int) -> tuple[Float, NDArray[np.bool_]]:
        """Return 1 for each label of n documents, (n, n_labels), and which of these have any, (n,)."""
        own = self.start[first : first + n + 1]
        found, document = np.zeros((n, self.n_labels)), np.repeat(np.arange(n), np.diff(own))
        found[document, self.topic[own[0] : own[-1]]] = 1.0
        return found, np.diff(own) > 0


@dataclass(frozen=True, slots=True)
class GivenLabels:
    """Labels of documents, with the names of all labels."""

    names: tuple[str, ...]
    documents: DocumentLabels


def column_named(X: Any, labels: Any) -> Any:
    """Return the column of a data frame that a name stands for; anything else as it is."""
    if not isinstance(labels, str | Integral) or not is_frame(X):
        return labels
    column = column_of_frame(X, labels)
    return column.to_pylist() if hasattr(column, "to_pylist") else column


def given_labels(corpus: Corpus, labels: Any, known: Sequence[str] | None = None) -> GivenLabels:
    """Return the labels of documents as numbers.

    Parameters
    ----------
    corpus : Corpus
        D documents.
    labels : str or sequence of length D
        A column of `Corpus.metadata`, or the labels of each document: one, or a list of some. None, an empty text, an
        empty list and a missing value stand for a document without labels.
    known : sequence of str, optional
        The labels of a model, in its order. None: those that occur, in the order of the alphabet.

    Raises
    ------
    InputError
        If no document has a label, a label is not known, or there is not one entry for each document.
    """
    column = column_of(corpus, _entries(labels), "labels")
    rows = [labels_in(listed(entry) if isinstance(labels, str) else entry) for entry in column]
    names = tuple(known) if known else tuple(sorted({name for row in rows for name in row}))
    if not any(rows):
        raise InputError("labels has no label for any document; give at least one, or leave labels out.")
    number = {name: k for k, name in enumerate(names)}
    for row in rows:
        for name in row:
            if name not in number:
                raise InputError(
                    f"labels names {name!r:.60}, which the model was not fitted with; fit a model to all documents, "
                    "or leave this label out."
                )
            if not is_label(name):
                raise InputError(f"labels names {name!r:.60}; give labels of one line and at most 200 characters.")
    return GivenLabels(names, DocumentLabels.of([[number[name] for name in row] for row in rows], len(names)))


def labels_in(entry: Any) -> list[str]:
    """Return the labels of one document as texts, each once.

    Raises
    ------
    InputError
        If one is not a text, number or date, or they are not a list of some.
    """
    if isinstance(entry, set | frozenset):
        entry = sorted(entry, key=str)
    if isinstance(entry, np.ndarray):
        entry = entry.tolist()
    found = map(_name, entry if isinstance(entry, list | tuple) else [entry])
    return list(dict.fromkeys(name for name in found if name))


def _name(value: Any) -> str:
    """Return one label as text; nothing for a missing value."""
    if value is None or (not isinstance(value, str) and str(value) in ("<NA>", "NaT", "nan")):
        return ""
    if not isinstance(value, _KINDS) and type(value).__module__.split(".")[0] != "pandas":  # periods, intervals
        raise InputError(f"labels has {value!r:.60} for a document; give a text, number or date, or a list of some.")
    if isinstance(value, datetime) and value.time() == time():
        value = value.date()  # a day, which pandas has as its midnight
    if isinstance(value, float | np.floating) and float(value).is_integer():
        value = int(value)  # a column of numbers some of which are missing
    return str(value).strip()


def _entries(labels: Any) -> Any:
    """Return labels that pandas keeps as they are: else it takes lists of labels for rows of a table."""
    if isinstance(labels, list | tuple):
        entries = np.empty(len(labels), dtype=object)
        for d, entry in enumerate(labels):
            entries[d] = entry
        return entries
    return labels


def documents_for_curve(labels: DocumentLabels, seed: int) -> Int:
    """Return the documents with labels that the curve is fitted to, in their order."""
    rows = np.flatnonzero(np.diff(labels.start) > 0)
    if rows.size > MOST_DOCUMENTS:
        rows = np.sort(stream(seed, "documents of the label curve").permutation(rows)[:MOST_DOCUMENTS])
    return rows.astype(np.int64)


def log_odds(weights: Float) -> Float:
    """Return log w / (1 - w) of weights, cut at both ends."""
    cut = np.clip(weights, LEAST_WEIGHT, 1.0 - LEAST_WEIGHT)
    return np.asarray(np.log(cut / (1.0 - cut)))


def fitted_curve(weights: Float, has: Float) -> list[float]:
    """Return a and b of P(label | weight) = 1 / (1 + exp(-a - b log_odds)), by Newton's method.         docs/math (L18)

    Parameters
    ----------
    weights : ndarray of shape (n, n_labels)
        Weights of the topics of labels in documents.
    has : ndarray of shape (n, n_labels)
        1 for the labels that they have.
    """
    x, y, at = log_odds(weights).ravel(), has.ravel(), np.zeros(2)
    design = np.stack([np.ones_like(x), x], axis=1)
    for _ in range(STEPS):
        p = expit(design @ at)
        slope = design.T @ (y - p) - RIDGE * at
        curvature = (design * (p * (1.0 - p))[:, None]).T @ design + RIDGE * np.eye(2)
        step = np.linalg.solve(curvature, slope)
        at = at + step * min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-300))
        if float(np.abs(step).max()) < 1e-9:
            break
    return [float(at[0]), float(at[1])]


def curve_at(weights: Float, curve: list[float]) -> Float:
    """Return the probability of each label, (D, n_labels).                                          docs/math (L18)"""
    return np.asarray(expit(curve[0] + curve[1] * log_odds(weights)))


def label_probabilities(model: Any, X: Any) -> pd.DataFrame:
    """Return how probable each label of the fit is for each document.

    A logistic curve of the expected weight of the label's topic, the same for all labels, learned from the labelled
    documents of the fit (docs/math (L18)). A document can have several labels, so rows need not sum to one.

    Parameters
    ----------
    X : texts, Corpus, sparse matrix or array of shape (D, W)

    Returns
    -------
    DataFrame of shape (D, n_labels)
        A column for each label, a row for each document, by its name.

    Raises
    ------
    InputError
        If the model was fitted without labels.
    """
    import pandas as pd

    check_is_fitted(model)
    if not model.label_names_:
        raise InputError("this model has no labels to predict; fit one with labels (--labels COLUMN).")
    corpus = model._corpus(X)
    found = curve_at(label_weights(model, corpus), model.label_curve_)
    return pd.DataFrame(found, pd.Index(corpus.names_in_tables, name="document"), model.label_names_)


def predict_labels(model: Any, X: Any) -> list[list[str]]:
    """Return the labels of each document that are more probable than not, the most probable first; at least one.

    Parameters
    ----------
    X : texts, Corpus, sparse matrix or array of shape (D, W)

    Raises
    ------
    InputError
        If the model was fitted without labels.
    """
    table = label_probabilities(model, X)
    found, order = table.to_numpy(), np.argsort(-table.to_numpy(), axis=1, kind="stable")
    n_likely = np.maximum((found >= LIKELY).sum(axis=1), 1)
    return [[model.label_names_[k] for k in row[:n]] for row, n in zip(order, n_likely, strict=True)]


def label_weights(model: Any, corpus: Corpus) -> Float:
    """Return the expected weights of the topics of labels in documents, all labels allowed, (D, n_labels)."""
    return np.asarray(model.expected_weights(corpus)[:, : len(model.label_names_)])
