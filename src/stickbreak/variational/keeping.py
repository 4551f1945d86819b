"""What memoized inference keeps of every batch: its statistics, and of its documents where the next visit starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stickbreak.fitting.engine import Workers
from stickbreak.fitting.shelves import InMemory, OnDisk, Packing, Shelf
from stickbreak.storage.atomic import told_as_write_error
from stickbreak.storage.places import PathLike, place_of
from stickbreak.variational.documents import Documents
from stickbreak.variational.sparse_rows import SparseRows
from stickbreak.variational.state import PER_TOPIC, StoredSummary, Summary

SIZE = "n_documents"  # of the file of a batch's documents


@dataclass(frozen=True, slots=True)
class Keeping:
    """Where both are kept: in files of a folder, or (None) in memory."""

    folder: Path | None = None

    @classmethod
    def of_fit(cls, scratch: PathLike | None, workers: Workers | None) -> Keeping:
        """Return where a fit keeps both.

        Where batches are visited by workers that is always in files: what is kept of documents does not travel.

        Raises
        ------
        WriteError
            If the scratch folder cannot be made.
        """
        if scratch is None:
            return cls(None if workers is None else workers.scratch)
        folder = place_of(scratch).absolute()
        with told_as_write_error(folder):
            folder.mkdir(parents=True, exist_ok=True)
        return cls(folder)

    def of_summaries(self) -> Shelf[StoredSummary]:
        """Return an empty shelf for statistics."""
        return _shelf(Packing(summary_arrays, summary_of), self.folder)

    def of_documents(self, kind: type[Documents]) -> Shelf[Any]:
        """Return an empty shelf for documents."""
        return _shelf(Packing(_document_arrays, partial(_documents_of, kind)), self.folder)


def _shelf(packing: Packing[Any], scratch: Path | None) -> Shelf[Any]:
    return InMemory(packing) if scratch is None else OnDisk(packing, scratch)


def _document_arrays(documents: Documents) -> dict[str, NDArray]:
    return {**documents.arrays(), SIZE: np.array([documents.n_documents])}


def _documents_of(kind: type[Documents], arrays: Mapping[str, NDArray]) -> Documents:
    named = {f"batch.{name}": array for name, array in arrays.items()}
    return kind.from_arrays(named, "batch", int(arrays[SIZE][0]))


def vector_arrays(summary: Summary) -> dict[str, NDArray]:
    """Return all of a summary but S, as arrays."""
    arrays = {name: getattr(summary, name) for name in PER_TOPIC}
    return {**arrays, "scalars": np.array([summary.n_documents, summary.Q0])}


def vectors_of(arrays: Mapping[str, NDArray]) -> Summary:
    """Return a summary without words from what `vector_arrays` returned."""
    n_documents, Q0 = arrays["scalars"]
    per_topic = {name: arrays[name] for name in PER_TOPIC}
    S = np.zeros((0, per_topic["N"].size))
    return Summary(n_documents=int(n_documents), words=np.zeros(0, np.int32), S=S, Q0=float(Q0), **per_topic)


def summary_arrays(summary: StoredSummary) -> dict[str, NDArray]:
    """Return stored statistics as arrays."""
    S = summary.S
    rows = {"S_indptr": S.indptr, "S_topic": S.topic, "S_value": S.value}
    return {**vector_arrays(summary.vectors), "words": summary.words, **rows}


def summary_of(arrays: Mapping[str, NDArray]) -> StoredSummary:
    """Return stored statistics from what `summary_arrays` returned."""
    vectors = vectors_of(arrays)
    S = SparseRows(vectors.N.size, *(arrays[f"S_{name}"] for name in ("indptr", "topic", "value")))
    return StoredSummary(vectors, arrays["words"], S)
