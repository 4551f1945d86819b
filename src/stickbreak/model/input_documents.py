"""What a model is given: texts, data frames, tables or a Corpus, made documents over its words."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from stickbreak.corpus import Corpus, TextOptions, count_texts
from stickbreak.corpus.alignment import in_columns
from stickbreak.corpus.arguments import WrongInput, wrong_input
from stickbreak.corpus.text_columns import column_of, columns_of, is_frame, texts_in, texts_of
from stickbreak.exceptions import InputError, InvalidCorpus
from stickbreak.prediction.topics import FlatTopics
from stickbreak.prediction.words import no_documents


def texts_of_model(model: FlatTopics, X: Any) -> Sequence[Any] | None:
    """Return the texts that X holds, as the fit was given them; None if X is something else."""
    if is_frame(X):
        column = model.text_column_
        if column is not None and (model.takes_vectors or wrong_input(X) is not None):
            _check_column(X, column, "texts")
        return None if column is None or column not in columns_of(X) else texts_of(X, column)
    return None if isinstance(X, Corpus) else texts_in(X)


def _check_column(X: Any, column: str, what: str) -> None:
    """Refuse a data frame without the column that held the texts or the vectors of the fit."""
    if column not in columns_of(X):
        raise InputError(f"the data frame has no column {column!r:.40}; give the column of the {what} this name.")


def counted(model: FlatTopics, X: Any, *, reset: bool = False) -> Any:
    """Count texts, with `reset` by the defaults, else in the words of the model; return anything else as it is.

    Raises
    ------
    InputError
        If the model does not know how the texts of its fit were counted.
    """
    texts = texts_of_model(model, X)
    if texts is None:
        return X
    if reset:
        return count_texts(texts)
    if not texts:
        return no_documents(model.vocabulary_)
    column = model.vector_column_
    vectors = None
    if is_frame(X) and column is not None:
        _check_column(X, column, "vectors")
        vectors = column_of(X, column)
    return count_texts(texts, _options_of_fit(model), vocabulary=model.vocabulary_, vectors=vectors)


def counted_with_new(model: FlatTopics, X: Any) -> Any:
    """Count texts in the words of the model and in new ones, chosen as those of a fit are, but for `max_df`.

    A word that most of the new texts have may be that of a new subject.
    """
    texts = texts_of_model(model, X)
    if texts is None:
        return X
    options = _options_of_fit(model)
    known = count_texts(texts, options, vocabulary=model.vocabulary_)
    try:
        found = count_texts(texts, replace(options, max_df=1.0))
    except InvalidCorpus:  # no word at all is left
        return known
    named = set(model.vocabulary_)
    new = [word for word in found.words if word not in named]
    words = (*model.vocabulary_, *new)
    place = {word: len(model.vocabulary_) + j for j, word in enumerate(new)}
    wide = in_columns(known, np.arange(known.n_words), words)
    more = in_columns(found, np.array([place.get(word, -1) for word in found.words]), words)
    return Corpus.from_counts(replace(wide, counts=(wide.counts + more.counts).tocsr()))


def _options_of_fit(model: FlatTopics) -> TextOptions:
    """Return how the texts of the fit were counted."""
    check_is_fitted(model)
    if model.text_options_ is None:
        raise InputError(
            "X holds texts, but this model was fitted to counts; give counts, made as those of its fit: "
            "stickbreak.corpus.count_texts(X, options, vocabulary=model.vocabulary_)"
        )
    return model.text_options_


def count_for_fit(X: Any, text: Hashable | None, options: TextOptions | None) -> Corpus:
    """Count the texts that a fit is given with a column of a data frame, or options, of their own."""
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


def texts_and_options(model: Any, X: Any) -> tuple[Sequence[Any] | None, TextOptions | None]:
    """Return the texts that X holds, None if it holds counts, and how the model counts texts, None if it does not."""
    return (texts_of_model(model, X), model.text_options_) if isinstance(model, FlatTopics) else (None, None)


def counted_for(model: Any, X: Any) -> Corpus:
    """Return documents as a Corpus: models of stickbreak count texts as those of their fit were."""
    if not isinstance(model, FlatTopics):
        return Corpus.from_counts(X)
    if model.text_column_ is not None and is_frame(X):
        return model._corpus(X)  # with the columns that weights depend on
    return Corpus.from_counts(counted(model, X))


def checked_table(
    model: BaseEstimator, X: Any, sentence: Callable[[WrongInput], str], refused: type[InputError], **options: Any
) -> Any:
    """Return what scikit-learn's `validate_data` makes of X.

    It refuses texts, a path or a dict in place of a table, and other shapes, in one sentence without the data.
    """
    wrong = wrong_input(X)
    if wrong is not None:
        raise refused(sentence(wrong))
    try:
        return validate_data(model, np.asarray(X) if isinstance(X, np.matrix) else X, **options)
    except ValueError as error:
        raise refused(_in_one_sentence(str(error))) from None


def _in_one_sentence(text: str) -> str:
    """Return what scikit-learn says without the numbers that it shows."""
    if text.startswith("Expected 2D"):
        return "X has fewer than two dimensions. Reshape your data: a single row is X.reshape(1, -1)."
    if text.startswith("Complex data"):
        return "Complex data not supported: X holds complex numbers; give real ones."
    if text.startswith("Input X contains"):
        return f"{text.splitlines()[0].rstrip('.')}; remove or repair these values."
    return text
