"""Whether documents are counted in the words of a model."""

from __future__ import annotations

from typing import Protocol

from stickbreak.corpus import Corpus
from stickbreak.exceptions import InvalidCorpus


class HasWords(Protocol):
    """A fitted model of any family."""

    @property
    def vocabulary_(self) -> tuple[str, ...]:
        """The W words."""


def check_same_words(model: HasWords, corpus: Corpus) -> None:
    """Refuse a corpus whose columns are not the words of the model.

    Parameters
    ----------
    model : fitted model
        Any family.
    corpus : Corpus
        Documents to be described by the model.

    Raises
    ------
    InvalidCorpus
        If the numbers of words differ, or both have named words and some name differs.
    """
    named = tuple(model.vocabulary_)
    n_words = len(named)
    if corpus.n_words != n_words:
        raise InvalidCorpus(
            f"the corpus has {corpus.n_words} words but the model was fitted on {n_words}; "
            "count the documents with the vocabulary of the model."
        )
    if corpus.vocabulary is None or corpus.vocabulary == named or _only_numbered(named):
        return
    column = next(w for w in range(n_words) if corpus.vocabulary[w] != named[w])
    raise InvalidCorpus(
        f"column {column} is {corpus.vocabulary[column]!r} in the corpus but {named[column]!r} in the model; "
        "count the documents with the vocabulary of the model."
    )


def _only_numbered(vocabulary: tuple[str, ...]) -> bool:
    """Tell whether the model was fitted on columns without names."""
    return vocabulary == tuple(f"w{w}" for w in range(len(vocabulary)))
