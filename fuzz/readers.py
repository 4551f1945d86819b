"""Files of every format, changed by chance, and how they are read: a sound corpus or one of our errors.

Input N of seed S is always the same: `python -m fuzz readers --seed S --first N --inputs 1` repeats it.
"""

from __future__ import annotations

import argparse
import io
import itertools
import json
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import scipy.sparse as sp

from fuzz.campaign import add_campaign_arguments, run_campaign
from fuzz.good_files import Good, good_files
from fuzz.outcomes import Unsound
from stickbreak.corpus import (
    FORMATS,
    Corpus,
    GroupedVectors,
    TextOptions,
    count_texts,
    open_corpus,
    open_vectors,
    read,
    read_texts,
)
from stickbreak.corpus.reading.counts import read_vocabulary
from stickbreak.corpus.reading.files import DEFAULT_LIMITS, ReadLimits

_LOOSE = {"min_df": 1, "max_df": 1.0, "stop_words": None}
_ENCODINGS = ("latin-1", "utf-16", "utf-8-sig", "ascii", "cp1252", "shift_jis", "utf-7", "no-such", "", "rot13", "hex")
_TEXT_FORMATS = ("jsonl", "csv", "tsv", "parquet", "lines", "folder")


@dataclass(frozen=True)
class Input:
    """Files in a folder and how they are read."""

    group: str
    call: str
    target: str
    files: dict[str, bytes]
    options: dict[str, Any] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        """Put the files into a folder."""
        for name, content in self.files.items():
            file = folder / name
            if "/" in name:
                file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)

    def keep(self, folder: Path, expected: str = "either") -> None:
        """Put the files, and how they are read, into a folder that `kept` takes up."""
        self.write(folder)
        call = {"call": self.call, "target": self.target, "options": self.options, "expected": expected}
        (folder / "call.json").write_text(json.dumps(call, indent=1) + "\n")


def kept(folder: Path) -> tuple[Input, str]:
    """Take up what `Input.keep` wrote: the input, and the outcome that is expected."""
    call = json.loads((folder / "call.json").read_text())
    files = {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file.name != "call.json"
    }
    return Input(folder.name, call["call"], call["target"], files, call["options"]), call["expected"]


class Readers:
    """The trials of this mode."""

    def __init__(self, seed: int, only: str = "") -> None:
        self.seed = seed
        goods = [good for good in good_files() if only in good.group]
        if not goods:
            raise SystemExit(f"no format is called {only!r}; they are: {', '.join(_groups())}")
        self._goods = goods
        self._bounds = list(itertools.accumulate(good.weight for good in goods))

    def good(self) -> Iterator[Input]:
        """Give all readable files as they are: this imports what workers need."""
        import pyarrow

        pyarrow.set_cpu_count(1)
        for good in (good for good in self._goods if good.readable):
            yield Input(good.group, good.call, good.target, good.files, {"text": _LOOSE} if good.call == "read" else {})

    def make(self, number: int) -> Input:
        """Return input `number`."""
        random = Random(f"readers {self.seed} {number}")
        good = random.choices(self._goods, cum_weights=self._bounds)[0]
        files = dict(good.files)
        for name in random.sample(list(files), min(len(files), random.choice((1, 1, 1, 2)))):
            if random.random() < 0.01 and len(files) > 1:
                del files[name]
            else:
                files[name] = good.mutations[name](random, files[name])
        return Input(good.group, good.call, good.target, files, _options(random, good))

    def attempt(self, given: Input, folder: Path) -> None:
        """Read an input and look at what came of it."""
        attempt(given, folder)


def attempt(given: Input, folder: Path) -> None:
    """Read an input and look at what came of it; raise Unsound if that is not what the library promises."""
    if given.call == "from_counts":
        check_corpus(Corpus.from_counts(_matrix(given.files[given.target])))
        return
    given.write(folder)
    path = folder / given.target
    if given.call == "open_vectors":
        check_vectors(open_vectors(path))
    elif given.call == "open_corpus":
        check_corpus(open_corpus(path))
    elif given.call == "vocabulary":
        check_words(read_vocabulary(path, **given.options))
    elif given.call == "stop words":
        check_words(read_stop_words(path))
    else:
        _read(path, dict(given.options))


def read_stop_words(path: Path) -> tuple[str, ...]:
    """Read stop words as the command line does."""
    from stickbreak.cli.settings import text_options

    options = text_options(str(path), "1", "1.0", None, DEFAULT_LIMITS, {})
    count_texts(["bread and butter of the baker"], options, vocabulary=["bread", "the"])
    return options.stop_words if isinstance(options.stop_words, tuple) else ()


def _groups() -> list[str]:
    return sorted({good.group for good in good_files()})


def _options(random: Random, good: Good) -> dict[str, Any]:
    """Choose how a file is read: mostly as it is meant, sometimes as something else."""
    if good.call == "vocabulary":
        return {} if random.random() < 0.8 else {"encoding": random.choice(_ENCODINGS)}
    if good.call != "read":
        return {}
    options = dict(good.options)
    if random.random() < 0.9:
        options["text"] = _LOOSE
    if random.random() < 0.1:
        options["format"] = random.choice(FORMATS)
    if random.random() < 0.05:
        options["encoding"] = random.choice(_ENCODINGS)
    if random.random() < 0.05:
        options["text_field"] = random.choice(("text", "id", "note", "no such", ""))
    if random.random() < 0.05:
        options["name_field"] = random.choice(("text", "id", "year", "no such", ""))
    if random.random() < 0.05:
        options["vocabulary"] = random.choice((["bread", "butter", "salt", "pepper"], ["bread"], [], ["x", "x"]))
    if random.random() < 0.05:
        options["delimiter"] = random.choice((";", "\t", "|", ",", "", "ab", "\n", '"', "x", "é"))
    if random.random() < 0.03:
        options["limits"] = {
            random.choice(("document_bytes", "unpacked_bytes", "declared_size")): random.choice((1, 20, 10**9))
        }
    if random.random() < 0.1:
        options["chunk_size"] = random.choice((1, 2, 3))
    if random.random() < 0.2:
        options["texts of row"] = random.choice((0, 0, 1, 3, 99))
    return options


def _read(path: Path, options: dict[str, Any]) -> None:
    row = options.pop("texts of row", None)
    if "text" in options:
        options["text"] = TextOptions(**options["text"])
    if "limits" in options:
        options["limits"] = ReadLimits(**options["limits"])
    corpus = read(path, **options)
    check_corpus(corpus)
    if row is not None:
        shared = ("format", "text_field", "encoding", "chunk_size", "delimiter", "limits")
        found = read_texts(path, [row], **{name: options[name] for name in shared if name in options})
        if len(found) != 1 or not isinstance(found[0], str):
            raise Unsound(f"read_texts gives {found!r:.100} for a row")


def _matrix(content: bytes) -> Any:
    """Make a sparse matrix of arrays without any check."""
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        kind = bytes(arrays["format"]).decode()
        matrix = getattr(sp, f"{kind}_matrix")((2, 2))
        for name in arrays.files:
            if name not in ("format", "shape"):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # SciPy's own, about coordinates that it casts
                    setattr(matrix, name, tuple(arrays[name]) if name == "coords" else arrays[name])
        shape = arrays["shape"].reshape(-1).tolist()
    try:
        matrix._shape = tuple(int(size) for size in shape)
    except (ValueError, OverflowError, TypeError):
        matrix._shape = (2, 2)
    return matrix


def check_corpus(corpus: Corpus) -> None:
    """Raise Unsound if something of a corpus is not as the rest of the library takes it."""
    counts = corpus.counts
    D, W = counts.shape
    data, indices, indptr = counts.data, counts.indices, counts.indptr
    if not (D >= 1 and W >= 1 and (D, W) == (corpus.n_documents, corpus.n_words)):
        raise Unsound(f"a corpus of shape {counts.shape}")
    if data.dtype not in (np.int32, np.float64) or indices.dtype.kind != "i" or indptr.dtype.kind != "i":
        raise Unsound(f"dtypes {data.dtype}, {indices.dtype}, {indptr.dtype}")
    if indptr.shape != (D + 1,) or indptr[0] != 0 or not data.size == indices.size == indptr[-1]:
        raise Unsound("the arrays of the counts do not fit together")
    steps = np.diff(indptr)
    if steps.min() < 0:
        raise Unsound("indptr decreases")
    if data.size:
        if not (np.isfinite(data).all() and data.min() > 0):
            raise Unsound("a count is not positive and finite")
        if indices.min() < 0 or indices.max() >= W:
            raise Unsound("a word outside the vocabulary")
        turns = 1 + np.flatnonzero(indices[1:] <= indices[:-1])
        if turns.size and not np.isin(turns, indptr).all():
            raise Unsound("the words of a document do not ascend")
    if corpus.vocabulary is not None:
        check_words(corpus.vocabulary, W)
    if corpus.names is not None and (len(corpus.names) != D or not all(type(n) is str for n in corpus.names)):
        raise Unsound("the names do not fit the documents")
    if not np.isfinite(corpus.n_tokens) or corpus.document_lengths.shape != (D,):
        raise Unsound(f"{corpus.n_tokens} tokens")
    repr(corpus)


def check_vectors(vectors: GroupedVectors) -> None:
    """Raise Unsound if vectors are not finite, or their groups do not fit them."""
    if not np.isfinite(vectors.values).all() or vectors.values.ndim != 2:
        raise Unsound("vectors that are not finite")
    offsets = vectors.offsets
    if offsets[0] != 0 or offsets[-1] != len(vectors.values) or (np.diff(offsets) < 0).any():
        raise Unsound("groups that do not fit the vectors")
    repr(vectors)


def check_words(words: tuple[str, ...], n_words: int | None = None) -> None:
    """Raise Unsound if words are not different strings, as many as there are columns."""
    if n_words is not None and len(words) != n_words:
        raise Unsound(f"{len(words)} words for {n_words} columns")
    if not all(type(word) is str for word in words) or (n_words is not None and len(set(words)) < len(words)):
        raise Unsound("words that are not different strings")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this mode."""
    add_campaign_arguments(parser, inputs=20_000, what="format")


def run(arguments: argparse.Namespace) -> int:
    """Try the inputs; print the table; return the number of failures."""
    return run_campaign("readers", Readers(arguments.seed, arguments.only), arguments)
