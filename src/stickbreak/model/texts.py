"""Texts in place of counts: how a model counts them at its fit, remembers that, and counts new ones the same way."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from stickbreak.corpus import Corpus, TextOptions, count_texts
from stickbreak.corpus.alignment import in_columns
from stickbreak.corpus.text_columns import columns_of, is_frame, texts_in, texts_of
from stickbreak.exceptions import InputError, InvalidCorpus
from stickbreak.prediction.words import no_documents

__all__ = ["TakesTexts", "count_for_fit", "counted_for", "texts_given"]


class TakesTexts:
    """What models of words do with texts.

    Attributes
    ----------
    text_options_ : TextOptions or None
        How the texts of the fit became counts; None where it was given counts whose texts are not known.
    text_column_ : str or None
        Column of the texts, where the fit was given a data frame.
    """

    text_options_: TextOptions | None = None
    text_column_: str | None = None
    vocabulary_: tuple[str, ...]

    def _texts(self, X: Any) -> Sequence[Any] | None:
        """Return the texts that X holds, as the fit was given them; None if X is something else."""
        if is_frame(X):
            column = self.text_column_
            return None if column is None or column not in columns_of(X) else texts_of(X, column)
        return None if isinstance(X, Corpus) else texts_in(X)

    def _counted(self, X: Any, *, reset: bool = False) -> Any:
        """Count texts, with `reset` by the defaults, else in the words of the model; return anything else as it is.

        Raises
        ------
        InputError
            If the model does not know how the texts of its fit were counted.
        """
        texts = self._texts(X)
        if texts is None:
            return X
        if reset:
            return count_texts(texts)
        if not texts:
            return no_documents(self.vocabulary_)
        return count_texts(texts, self._known_options(), vocabulary=self.vocabulary_)

    def _counted_with_new(self, X: Any) -> Any:
        """Count texts in the words of the model and in new ones, chosen as those of a fit are, but for `max_df`.

        A word that most of the new texts have may be that of a new subject.
        """
        texts = self._texts(X)
        if texts is None:
            return X
        options = self._known_options()
        known = count_texts(texts, options, vocabulary=self.vocabulary_)
        try:
            found = count_texts(texts, replace(options, max_df=1.0))
        except InvalidCorpus:  # no word at all is left
            return known
        named = set(self.vocabulary_)
        new = [word for word in found.words if word not in named]
        words = (*self.vocabulary_, *new)
        place = {word: len(self.vocabulary_) + j for j, word in enumerate(new)}
        wide = in_columns(known, np.arange(known.n_words), words)
        more = in_columns(found, np.array([place.get(word, -1) for word in found.words]), words)
        return Corpus.from_counts(replace(wide, counts=(wide.counts + more.counts).tocsr()))

    def _known_options(self) -> TextOptions:
        """Return how the texts of the fit were counted."""
        check_is_fitted(self)
        if self.text_options_ is None:
            raise InputError(
                "X holds texts, but this model was fitted to counts; give counts, made as those of its fit: "
                "stickbreak.corpus.count_texts(X, options, vocabulary=model.vocabulary_)"
            )
        return self.text_options_

    def _described_texts(self) -> dict[str, Any]:
        """Return what is saved of this."""
        if self.text_options_ is None:
            return {}
        return {"texts": {"options": self.text_options_.as_plain(), "column": self.text_column_}}

    def _restore_texts(self, meta: dict[str, Any]) -> None:
        """Take up what `_described_texts` returned."""
        if "texts" in meta:
            column = meta["texts"]["column"]
            if not (column is None or isinstance(column, str)):
                raise ValueError(f"the column of its texts is {column!r:.40}")
            self.text_options_ = TextOptions.from_plain(meta["texts"]["options"])
            self.text_column_ = column


def count_for_fit(X: Any, text: Hashable | None, options: TextOptions | None) -> Corpus:
    """Count the texts that a fit is given with a column or options of their own.

    Parameters
    ----------
    X : data frame, where `text` is given, or texts
    text : str, int or None
        The column of the texts.
    options : TextOptions or None
        None: the defaults.

    Raises
    ------
    InputError
        If X holds no texts, or `text` is not a column of it.
    """
    options = TextOptions() if options is None else options
    if text is not None:
        return count_texts(X, options, text=text)
    texts = None if isinstance(X, Corpus) else texts_in(X)
    if texts is None:
        raise InputError(
            "options say how texts become counts, but X holds no texts; give a list or a column of strings, a data "
            "frame with text='COLUMN', or leave options out"
        )
    return count_texts(texts, options)


def texts_given(model: Any, X: Any) -> tuple[Sequence[Any] | None, TextOptions | None]:
    """Return the texts that X holds, None if it holds counts, and how the model counts texts, None if it does not.

    Parameters
    ----------
    model : fitted model
        Of any kind; only those of stickbreak take texts.
    X : Corpus, counts or texts
    """
    return (model._texts(X), model.text_options_) if isinstance(model, TakesTexts) else (None, None)


def counted_for(model: Any, X: Any) -> Corpus:
    """Return documents as a Corpus: texts are counted as the model counts them.

    Parameters
    ----------
    model : fitted model
        Of any kind; only those of stickbreak take texts.
    X : Corpus, counts or texts
    """
    return Corpus.from_counts(model._counted(X) if isinstance(model, TakesTexts) else X)
