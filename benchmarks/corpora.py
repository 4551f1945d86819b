"""The document-completion splits on which systems are compared.

Set STICKBREAK_DATA to a folder with splits/NAME/{train,observed,heldout}.npz and vocab.txt (docs/benchmarks.md says how
they are made).
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from stickbreak.corpus import Corpus
from stickbreak.evaluation import Completion, document_completion

SPLITS = ("kos", "nips", "20news", "ap", "reuters21578")


@dataclass(frozen=True)
class Split:
    """One corpus: training documents, and the two halves of the held-out documents."""

    name: str
    train: Corpus
    observed: Corpus
    held_out: Corpus

    @property
    def seen(self) -> np.ndarray:
        """Words that occur in training: only these are scored."""
        return np.asarray(self.train.counts.sum(axis=0)).ravel() > 0

    def completion(self, model, document_weights: str) -> Completion:
        """Score the held-out halves with one of the two ways to infer document weights."""
        before = model.document_weights
        model.set_params(document_weights=document_weights)
        try:
            return document_completion(model, self.observed, self.held_out, seen=self.seen)
        finally:
            model.set_params(document_weights=before)


def load_split(name: str) -> Split:
    """Load one split by name."""
    root = os.environ.get("STICKBREAK_DATA")
    if not root:
        sys.exit("Set STICKBREAK_DATA to the folder that holds splits/ (see docs/benchmarks.md).")
    folder = Path(root) / "splits" / name
    words = (folder / "vocab.txt").read_text(encoding="utf-8").split("\n")
    parts = {part: sp.load_npz(folder / f"{part}.npz") for part in ("train", "observed", "heldout")}
    n_words = parts["train"].shape[1]
    corpora = [Corpus.from_counts(parts[part], vocabulary=words[:n_words]) for part in ("train", "observed", "heldout")]
    return Split(name, *corpora)


def table(rows: list[dict[str, object]]) -> str:
    """Return rows as a Markdown table."""
    names = list(rows[0])
    lines = ["| " + " | ".join(names) + " |", "|" + " --- |" * len(names)]
    lines += ["| " + " | ".join(str(row.get(name, "")) for name in names) + " |" for row in rows]
    return "\n".join(lines)
