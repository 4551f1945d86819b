"""Documents that are like one document: by the Hellinger distance of their topic weights."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError
from stickbreak.fitting.requirements import check_whole
from stickbreak.prediction.topics import FlatTopics
from stickbreak.questions.weights import dense, whole_blocks

if TYPE_CHECKING:
    import pandas as pd


def similar_documents(topics: FlatTopics, corpus: Corpus, row: int, n: int) -> pd.DataFrame:
    """Return the documents whose topic weights are nearest to those of one document.                math.md (Q7)

    Parameters
    ----------
    topics : fitted model
    corpus : Corpus
        D documents. Those without tokens are left out.
    row : int
        That of the one document, which is not in the answer.
    n : int

    Returns
    -------
    DataFrame
        A row for each document, the nearest first: document (its name), row, distance (from 0, the same weights, to 1,
        no topic in common), tokens.
    """
    import pandas as pd

    check_whole("n", n, 1)
    lengths, bare = np.asarray(corpus.document_lengths), replace(corpus, names=None, metadata=None)
    if lengths[row] <= 0:
        raise InputError(f"document {row} has no word of the model; give another document.")
    root = _root(topics.active_weights(bare[row : row + 1]))
    affinity = np.empty(len(corpus))
    for block in whole_blocks(topics, bare):
        affinity[block] = dense(_root(topics.active_weights(bare[block])) @ root.T)[:, 0]
    affinity[row] = affinity[lengths <= 0] = -1.0
    nearest = np.argsort(-affinity, kind="stable")[:n]
    nearest = nearest[affinity[nearest] >= 0]
    names = corpus.names_in_tables
    return pd.DataFrame(
        {
            "document": [names[d] for d in nearest],
            "row": nearest,
            "distance": np.sqrt(np.maximum(1.0 - affinity[nearest], 0.0)),
            "tokens": lengths[nearest],
        }
    )


def _root(weights: Any) -> Any:
    """Return the square roots of weights, dense or sparse."""
    return np.sqrt(weights)


def row_of(corpus: Corpus, document: int | str) -> int:
    """Return the row of a document that is given by its name or its row; digits are a row where no name is so.

    Raises
    ------
    InputError
        If there is no such document, or several have this name.
    """
    if isinstance(document, str):
        names = corpus.document_names
        n_found = names.count(document)
        if not n_found and document.isdecimal():
            return row_of(corpus, int(document))
        if n_found != 1:
            has = "no document" if n_found == 0 else f"{n_found} documents"
            raise InputError(
                f"{has} of the corpus has the name {document!r}; give a name, or the number of the row, from 0."
            )
        return names.index(document)
    row = check_whole("document", document, 0)
    if row >= len(corpus):
        raise InputError(f"document is {row}, but the corpus has {len(corpus)} documents; rows count from 0.")
    return row
