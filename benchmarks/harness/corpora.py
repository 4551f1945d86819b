"""The corpora of the harness by their names on the command line, each as training documents and held-out halves.

`kos` and other folders of STICKBREAK_DATA/splits are taken as they are. `planted:D:W:K:MEAN` draws D documents of MEAN
tokens over W words from K topics; `docstrings` are the documents of `stickbreak demo`, the documentation of Python's
standard library as installed here. Any other name is a path that `stickbreak.corpus.read` opens. Of these three a fifth
of the documents is held out, and cut into halves.
"""

from __future__ import annotations

import hashlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from stickbreak.corpus import Corpus, TextOptions, count_texts, planted_lda, read
from stickbreak.corpus.examples.standard_library import DOCSTRING_STOP_WORDS, english_and, standard_library_docstrings
from stickbreak.evaluation import Completion, document_completion

SPLITS = ("kos", "nips", "20news", "ap", "reuters21578")
DOCSTRINGS = "docstrings"
# Documents, words, topics, mean tokens.
PLANTED = (1000, 1000, 20, 80)
HELD_OUT = 0.2


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


def root() -> Path:
    """Return the folder of the corpora; end if there is none."""
    place = os.environ.get("STICKBREAK_DATA")
    if not place:
        sys.exit(
            "Set STICKBREAK_DATA to the folder that holds splits/ (docs/benchmarks/index.md says how they are made)."
        )
    return Path(place)


def load_split(name: str) -> Split:
    """Return the split of a name, from its folder."""
    folder = root() / "splits" / name
    words = (folder / "vocab.txt").read_text(encoding="utf-8").split("\n")
    parts = {part: sp.load_npz(folder / f"{part}.npz") for part in ("train", "observed", "heldout")}
    n_words = parts["train"].shape[1]
    corpora = [Corpus.from_counts(parts[part], vocabulary=words[:n_words]) for part in ("train", "observed", "heldout")]
    return Split(name, *corpora)


def splits() -> dict[str, Path]:
    """Return the folders of the splits that are there, the smallest first."""
    place = Path(os.environ.get("STICKBREAK_DATA", "")) / "splits"
    if "STICKBREAK_DATA" not in os.environ or not place.is_dir():
        return {}
    folders = [folder for folder in place.iterdir() if (folder / "train.npz").is_file()]
    return {folder.name: folder for folder in sorted(folders, key=lambda f: (f / "train.npz").stat().st_size)}


def names(given: list[str]) -> list[str]:
    """Return the names given, with all splits that are there in the place of "present"; end if one names nothing."""
    found = [name for one in given for name in (splits() if one == "present" else [one])]
    for name in found:
        if not (_is_generated(name) or name in splits() or Path(name).exists()):
            there = ", ".join(splits()) or "none (set STICKBREAK_DATA)"
            known = f"planted:D:W:K:MEAN, {DOCSTRINGS}, a file or folder, or a split of {there}"
            sys.exit(f"There is no corpus {name!r}: give {known}.")
        if _is_planted(name):
            _sizes(name)
    return found


def load(name: str) -> Split:
    """Return the corpus of a name."""
    if name in splits():
        return load_split(name)
    if name == DOCSTRINGS:
        whole = docstrings()
    else:
        whole = planted(name) if _is_planted(name) else read(name)
    train, held = whole.split(HELD_OUT, seed=0)
    return Split(title(name), train, *held.halves(seed=0))


def docstrings() -> Corpus:
    """Return the documents of `stickbreak demo`."""
    titles, texts = standard_library_docstrings()
    return count_texts(texts, TextOptions(stop_words=english_and(DOCSTRING_STOP_WORDS)), titles)


def planted(name: str) -> Corpus:
    """Draw the documents of `planted:D:W:K:MEAN`; what is left out is as in PLANTED."""
    n_documents, n_words, n_topics, mean = _sizes(name)
    return planted_lda(n_documents, n_words, n_topics=n_topics, mean_tokens=mean, seed=0)[0]


def _is_planted(name: str) -> bool:
    return name.partition(":")[0] == "planted"


def _is_generated(name: str) -> bool:
    return name == DOCSTRINGS or _is_planted(name)


def _sizes(name: str) -> list[int]:
    given = name.split(":")[1:]
    if len(given) > len(PLANTED) or not all(part.isdecimal() and int(part) > 0 for part in given):
        sys.exit(
            f"{name!r} does not name a planted corpus; write planted:DOCUMENTS:WORDS:TOPICS:MEAN, all whole numbers."
        )
    return [*map(int, given), *PLANTED[len(given) :]]


def title(name: str) -> str:
    """Return how tables and plots call a corpus."""
    if _is_generated(name) or name in splits():
        return name
    return Path(name).name.partition(".")[0]


def fingerprint(name: str) -> str:
    """Return a digest of what a path holds, so that a run of other documents is not taken for theirs."""
    if _is_generated(name):
        return ""
    path = splits().get(name, Path(name))
    files = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:12]
