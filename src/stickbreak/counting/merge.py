"""One corpus of many parts: one vocabulary, chosen once, and the counts of each part in its columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from stickbreak.corpus.csr import in_columns
from stickbreak.corpus.encoded_words import EncodedWords
from stickbreak.corpus.folder_writer import CorpusWriter
from stickbreak.corpus.metadata import Layout
from stickbreak.corpus.pruning import kept_words
from stickbreak.corpus.text_settings import TextOptions
from stickbreak.counting.part import Part
from stickbreak.fitting.engine import Engine

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Columns", "add_parts", "chosen_columns", "given_columns"]

_ROWS_AT_ONCE = 4_000_000  # words of parts that are held before they are summed up


@dataclass(frozen=True, slots=True)
class Columns:
    """The words of a collection.

    Attributes
    ----------
    words : list of str
    n_entries : int
        Pairs of a document and one of these words.
    encoded : pyarrow.Array or None
        The words as parts have them; None where parts have these columns already.
    """

    words: list[str]
    n_entries: int
    encoded: Any = None

    def places(self, part: Part) -> np.ndarray:
        """Return where the columns of a part go; -1: nowhere."""
        import pyarrow.compute as pc

        found = pc.index_in(part.words()["word"], value_set=self.encoded)
        return np.asarray(found.fill_null(-1).to_numpy(), np.int64)


def chosen_columns(parts: Iterable[Part], n_documents: int, options: TextOptions) -> Columns:
    """Choose the words of all parts together, as `count_texts` does.

    Raises
    ------
    InvalidCorpus
        If none is left; the message says which option removed them.
    """
    table = _all_words(parts)
    words = EncodedWords.of_arrow(table["word"].combine_chunks())
    documents, tokens = (table[name].to_numpy() for name in ("documents", "tokens"))
    kept = kept_words(words, documents, tokens, n_documents, options)
    chosen = words.take(np.array(kept))
    return Columns(chosen.listed(), int(documents[kept].sum()), chosen.arrow())


def given_columns(parts: Iterable[Part], vocabulary: Sequence[str]) -> Columns:
    """Return the columns of parts of which only the words of a vocabulary were counted."""
    return Columns(list(vocabulary), sum(part.n_entries() for part in parts))


def _all_words(parts: Iterable[Part]) -> pa.Table:
    """Sum up the words of all parts."""
    import pyarrow as pa

    waiting: list[Any] = []
    n_rows = 0
    for part in parts:
        waiting.append(part.words())
        n_rows += waiting[-1].num_rows
        if n_rows > _ROWS_AT_ONCE + waiting[0].num_rows:
            waiting = [_summed(waiting)]
            n_rows = waiting[0].num_rows
    return (
        _summed(waiting)
        if waiting
        else pa.table({"word": pa.array([], pa.large_binary()), "documents": [], "tokens": []})
    )


def _summed(tables: list[Any]) -> pa.Table:
    import pyarrow as pa

    table = pa.concat_tables(tables)
    words = table["word"].combine_chunks().dictionary_encode()  # four times as quick as to group by them
    place = words.indices.to_numpy()
    sums = {}
    for name in ("documents", "tokens"):
        sums[name] = np.zeros(len(words.dictionary), np.int64)
        np.add.at(sums[name], place, table[name].to_numpy())
    return pa.table({"word": words.dictionary, **sums})


def add_parts(
    writer: CorpusWriter,
    parts: Sequence[Part],
    columns: Columns,
    *,
    named: bool,
    layout: Layout,
    told: Callable[[int], None],
    runner: Engine,
) -> None:
    """Write the parts of a collection, one after the other; as many are made ready at once as there are threads.

    Parameters
    ----------
    writer : CorpusWriter
    parts : sequence of Part
        In the order of their documents.
    columns : Columns
        Of the whole.
    named : bool
        Whether any document has a name: the others are named by their numbers.
    layout : Layout
        Of the columns that are kept.
    told : callable
        Called with the number of parts that are written.
    runner : Engine
    """
    rows = np.cumsum([0, *(part.n_documents() for part in parts)]).tolist()

    def ready(number: int) -> tuple[sp.csr_matrix, bytes | None, pa.Table | None]:
        part = parts[number]
        counts = part.counts()
        if columns.encoded is not None:
            counts = in_columns(counts, columns.places(part), len(columns.words))
        names = part.name_lines(rows[number]) if named else None
        return counts, names, layout.typed(part.kept(counts.shape[0])) if layout.forms else None

    for first in range(0, len(parts), runner.n_threads):
        at_once = range(first, min(first + runner.n_threads, len(parts)))
        for number, found in zip(at_once, runner.map(ready, at_once), strict=True):
            writer.add(*found)
            told(number + 1)
