"""Labels of topics: made of words, or given by a reader, saved, and kept while a topic keeps its number."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from stickbreak.exceptions import InputError
from stickbreak.model.joining import JoinedTopics
from stickbreak.numerics.arrays import Int
from stickbreak.prediction.relevance import relevant_words
from stickbreak.questions.documents import best_documents
from stickbreak.questions.labels import kept_labels, labels_of
from stickbreak.questions.weights import Asked
from stickbreak.storage.amending import replace_value
from stickbreak.storage.places import PathLike

_MOST_TOPICS = 100  # of a tree
_LONGEST = 200  # characters
Namer = Callable[[list[str], list[str]], str]


class LabelledTopics(JoinedTopics):
    """The side of `TopicEstimator` that names topics."""

    _labels: dict[int, str] | None = None

    @property
    def _n_kept(self) -> int:
        """How many of the first topics keep their numbers, and so their labels, whatever a call changes."""
        return 0

    def _keeps_number(self, k: int) -> bool:
        """Whether a topic keeps its number, and so its label, whatever a call changes."""
        return k < self._n_kept

    @property
    def labels_(self) -> dict[int, str]:
        """The labels that were given, by the number of the topic."""
        check_is_fitted(self)
        return dict(self._labels or {})

    def label(
        self,
        names: Mapping[int, str | None] | Namer,
        *,
        X: Any = None,
        texts: Sequence[str] | Callable[[Sequence[int]], list[str]] | None = None,
        n_words: int = 10,
        n_texts: int = 3,
    ) -> Self:
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
        self

        Raises
        ------
        InputError
            If there is no such topic, two labels are alike, or a label is not a text in one line.
        """
        check_is_fitted(self)
        given = dict(names) if isinstance(names, Mapping) else self._named_by(names, X, texts, n_words, n_texts)
        merged = {**self.labels_, **self._checked_labels(given)}
        kept = {k: label for k, label in sorted(merged.items()) if label is not None}
        _refuse_alike(kept)
        self._labels = kept
        return self

    def _named_by(self, namer: Any, X: Any, texts: Any, n_words: int, n_texts: int) -> dict[int, str | None]:
        """Ask a callable for the label of every topic."""
        if not callable(namer):
            raise InputError(f"names is {namer!r:.40}; give labels by topic ({{3: 'encryption'}}) or a callable.")
        shown = self.shown_topics(n_words, most=_MOST_TOPICS).numbers
        words = self._relevant(shown, n_words)
        if X is None or texts is None:
            return {int(k): namer(row, []) for k, row in zip(shown, words, strict=True)}
        corpus = self._corpus(X)
        rows, _ = best_documents(self, corpus, shown, n_texts)
        found: dict[int, str | None] = {}
        for k, row, best in zip(shown, words, rows, strict=True):
            chosen = [int(d) for d in best if d >= 0]
            found[int(k)] = namer(row, texts(chosen) if callable(texts) else [texts[d] for d in chosen])
        return found

    def _checked_labels(self, given: Mapping[Any, Any]) -> dict[int, str | None]:
        """Refuse what cannot be the label of a topic."""
        for k, label in given.items():
            if not isinstance(k, int | np.integer) or isinstance(k, bool):
                raise InputError(f"a label is for {k!r}; give the number of a topic.")
            if label is None:
                continue
            if not is_label(label):
                raise InputError(
                    f"the label of topic {k} is {label!r:.60}; give one line of at most {_LONGEST} characters."
                )
        if given:
            self.word_distributions([int(k) for k in given])  # refuses a number that is none of a topic
        return {int(k): label.strip() if label else None for k, label in given.items()}

    def _check_labels(self) -> None:
        """Refuse labels of a loaded model that no `label` can have left; a ValueError."""
        try:
            self._checked_labels(self._labels or {})
            _refuse_alike(self._labels or {})
        except InputError as error:
            raise ValueError(f"its labels cannot be: {error}") from None

    def _asked(self, topic: int | None = None) -> Asked:
        """Return the topics that a table is about, with their labels: one, all, or of a tree the largest."""
        check_is_fitted(self)
        if topic is None:
            numbers = self.shown_topics(1, most=_MOST_TOPICS).numbers
        else:
            self.word_distributions([topic])  # refuses a number that is none of a topic
            numbers = np.array([topic], dtype=np.int64)
        return Asked(numbers, self._labels_of(numbers))

    def _labels_of(self, numbers: Int) -> tuple[str, ...]:
        """Return labels of topics, none like another."""
        return labels_of(self, numbers, self._labels or {})

    def _relevant(self, numbers: Int, n_words: int) -> list[list[str]]:
        """Return the most relevant words of topics."""
        return [[str(self.vocabulary_[w]) for w in row] for row in relevant_words(self, numbers, n_words)]

    def _take_names(self, documents: Any) -> None:
        super()._take_names(documents)
        self._labels = None  # of the topics of another fit

    @contextmanager
    def _unchanged_by_errors(self) -> Iterator[None]:
        """Also let labels stay with the topics that keep their number, where a call changes topics."""
        labels = self._labels
        before = self.word_distributions(list(labels)) if labels else None
        with super()._unchanged_by_errors():
            yield
            if labels and before is not None and self._labels is labels:
                shown = self.shown_topics(1, most=_MOST_TOPICS).numbers
                numbers = np.union1d(shown, [k for k in labels if self._is_topic(k)])
                kept = kept_labels(labels, before, self.word_distributions(numbers), numbers)
                self._labels = {k: label for k, label in labels.items() if self._keeps_number(k) or k in kept}

    def _is_topic(self, k: int) -> bool:
        """Whether a number is that of a topic."""
        try:
            self.word_distributions([k])
        except InputError:
            return False
        return True

    def _regrouped(self, groups: Iterable[Sequence[int]], drop: Sequence[int]) -> tuple[Self, Int]:
        groups = list(groups)
        model, after = super()._regrouped(groups, drop)
        labelled = [k for group in reversed(groups) for k in reversed(group) if k in self.labels_]
        model._labels = model.labels_ | {int(after[k]): self.labels_[k] for k in labelled}
        return model, after

    def _with_groups(self, groups: list[list[int]]) -> tuple[Self, Int]:
        model, number = super()._with_groups(groups)
        alone = {group[0]: int(number[g]) for g, group in enumerate(groups) if len(group) == 1}
        model._labels = {alone[k]: label for k, label in self.labels_.items() if k in alone}
        return model, number


def is_label(text: Any) -> bool:
    """Whether a text can be the label of a topic: it is one line, not blank and not too long."""
    return isinstance(text, str) and bool(text.strip()) and len(text) <= _LONGEST and text.isprintable()


def _refuse_alike(labels: Mapping[int, str]) -> None:
    """Refuse two topics with one label."""
    number: dict[str, int] = {}
    for k, label in labels.items():
        if label in number:
            raise InputError(f"topics {number[label]} and {k} have the same label {label!r}; give each its own.")
        number[label] = k


def save_labels(model: LabelledTopics, path: PathLike) -> None:
    """Write the labels of a model into the folder that it is saved in; all else there stays as it is.

    Parameters
    ----------
    model : fitted model
    path : path-like
        Where `model` was loaded from.

    Raises
    ------
    WriteError
        If the folder cannot be written.
    """
    replace_value(path, "labels", {str(k): label for k, label in model.labels_.items()})
