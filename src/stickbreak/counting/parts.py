"""Parts of a collection: counted by one worker each, kept in files until all are done, put together to one corpus."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp

from stickbreak.corpus.csr import assemble_csr, in_columns
from stickbreak.corpus.folder import CorpusWriter
from stickbreak.corpus.metadata import Gathered, Layout, Portion
from stickbreak.corpus.pruning import kept_words
from stickbreak.corpus.reading.blocks import arrow_texts, names_of
from stickbreak.corpus.reading.decoding import Dirt
from stickbreak.corpus.reading.source import Piece
from stickbreak.corpus.text import count_blocks
from stickbreak.corpus.text_settings import TextOptions
from stickbreak.exceptions import ReadError, WriteError
from stickbreak.fitting.engine import Engine
from stickbreak.storage.atomic import replace_file, told_as_write_error
from stickbreak.storage.locks import lock_folder, unlock
from stickbreak.storage.plain_files import open_file, read_text

if TYPE_CHECKING:
    import pyarrow as pa

_MARK = "parts.json"
_KIND = "stickbreak parts"


@contextmanager
def folder_of_parts(target: Path) -> Iterator[Path]:
    """Give the folder of the parts of a corpus, locked; it is removed when all is done, and stays where it is not.

    The system takes the lock off when the process ends, so that the folder of one that was killed can be used again.
    """
    folder = target.with_name(f"{target.name}.parts")
    with told_as_write_error(folder):
        lock = _locked(folder, target)
        try:
            _sign(folder, target)
        except BaseException:
            unlock(lock)
            raise
    try:
        yield folder
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        unlock(lock)


def _locked(folder: Path, target: Path) -> int | None:
    """Make the folder if there is none, and lock it."""
    while True:
        folder.mkdir(exist_ok=True)
        try:
            return lock_folder(folder)
        except FileNotFoundError:
            continue  # whoever had it is done, and has removed it
        except BlockingIOError:
            raise WriteError(
                f"{target} is being counted by another process; wait until that ends, or choose another name"
            ) from None


def _sign(folder: Path, target: Path) -> None:
    """Say in the folder what it is."""
    mark = folder / _MARK
    if not mark.is_file() and any(folder.iterdir()):
        raise WriteError(f"{folder} exists and was not made to count to {target.name}; remove it or rename it")
    mark.write_text(json.dumps({"kind": _KIND}) + "\n", encoding="utf-8")


_FORM = 3  # of the files of parts: those of another one are counted again
_ENOUGH = 3 / 4  # of a step: the rest of a file that was cut makes no job of twice the size with the next file
_OF_PRUNING = ("min_df", "max_df", "max_features")  # they are asked for once all is counted
_ROWS_AT_ONCE = 4_000_000  # words of parts that are held before they are summed up
_DAMAGED = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, MemoryError)


@dataclass(frozen=True, slots=True)
class Counting:
    """What all jobs share."""

    folder: Path  # where parts are written
    options: TextOptions  # how text becomes counts
    vocabulary: tuple[str, ...] | None  # the words to count; None: all
    keep: tuple[str, ...]  # fields that are kept
    step: int  # bytes of text that are counted together, about: more of a piece become another part
    digest: str  # of all but the folder and what is asked for once all is counted

    @classmethod
    def of(
        cls, folder: Path, options: TextOptions, vocabulary: tuple[str, ...] | None, keep: tuple[str, ...], step: int
    ) -> Self:
        """Return what all jobs share."""
        of_text = {name: value for name, value in options.as_plain().items() if name not in _OF_PRUNING}
        digest = _digest([version("stickbreak"), _FORM, of_text, vocabulary, keep, step])
        return cls(folder, options, vocabulary, keep, step, digest)


@dataclass(frozen=True, slots=True)
class Job:
    """Pieces that are counted together."""

    pieces: tuple[Piece, ...]

    def name(self, counting: Counting) -> str:
        """Return a name that no other input, or other settings, have."""
        return _digest([counting.digest, asdict(self)])


def _digest(told: Any) -> str:
    written = json.dumps(told, default=_as_text, sort_keys=True)
    return hashlib.sha256(written.encode("ascii")).hexdigest()[:32]


def _as_text(value: Any) -> str:
    """Return what JSON cannot hold as text; not the set of what was logged, which grows and has no order."""
    return "" if isinstance(value, set) else str(value)


@dataclass(frozen=True, slots=True)
class Done:
    """The parts that a job has written, and what it passed over."""

    parts: tuple[Part, ...]
    dirt: Dirt = field(default_factory=Dirt)


def jobs_of(pieces: Iterable[Piece], step: int) -> Iterator[Job]:
    """Put pieces together until they have about `step` bytes."""
    waiting: list[Piece] = []
    size = 0
    for piece in pieces:
        waiting.append(piece)
        size += piece.size
        if size >= _ENOUGH * step:
            yield Job(tuple(waiting))
            waiting, size = [], 0
    if waiting:
        yield Job(tuple(waiting))


def count_job(counting: Counting, job: Job) -> Done:
    """Count the texts of a job and write them, in one part or several; the mark that they are done is written last."""
    name, dirt = job.name(counting), Dirt()
    parts: list[Part] = []
    blocks = (block for piece in job.pieces for block in piece.blocks(dirt))
    while (first := next(blocks, None)) is not None:
        portion = Portion(first, blocks, counting.keep, counting.step)
        counts, words = count_blocks(portion, counting.options, counting.vocabulary)
        kept = portion.gatherer.gathered() if counting.keep else None
        path = counting.folder / f"{name}-{len(parts)}.npz"
        _write_part(path, counts, words if counting.vocabulary is None else None, portion.names, kept)
        parts.append(Part(path))
    with replace_file(_mark(counting, name), lasting=False) as temporary:
        temporary.write_text(json.dumps({"parts": len(parts), "dirt": asdict(dirt)}), encoding="ascii")
    return Done(tuple(parts), dirt)


def done_before(counting: Counting, job: Job) -> Done | None:
    """Return what a job has written before; None if it has not, or what it wrote is damaged."""
    name = job.name(counting)
    try:
        known = json.loads(read_text(_mark(counting, name), "ascii"))
        parts = [Part.sound(counting.folder / f"{name}-{number}.npz") for number in range(known["parts"])]
        dirt = Dirt(**known["dirt"])
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return None if None in parts else Done(tuple(part for part in parts if part is not None), dirt)


def _mark(counting: Counting, name: str) -> Path:
    return counting.folder / f"{name}.done"


def _write_part(
    path: Path, counts: sp.csr_matrix, words: Any, names: Sequence[tuple[Any, int]], kept: Gathered | None
) -> None:
    """Write counts, the word of each column (None: those of a vocabulary), names, and columns that are kept."""
    import pyarrow as pa

    n_words = counts.shape[1]
    arrays: dict[str, Any] = {
        "data": counts.data,
        "indices": counts.indices,
        "indptr": counts.indptr,
        "sizes": np.array([counts.shape[0], n_words, counts.nnz], np.int64),
    }
    if words is not None:
        tokens = np.bincount(counts.indices, weights=counts.data, minlength=n_words).astype(np.int64)
        documents = np.bincount(counts.indices, minlength=n_words)
        arrays["words"] = _as_bytes(pa.table({"word": words, "documents": documents, "tokens": tokens}))
    if any(own is not None for own, _ in names):
        parts = [pa.nulls(n, pa.large_string()) if own is None else own for own, n in names]
        arrays["names"] = _as_bytes(pa.table({"name": pa.concat_arrays(parts)}))
    if kept is not None:
        arrays["kept"] = _as_bytes(kept.table)
        forms = {name: sorted(found) for name, found in kept.forms().items()}
        arrays["forms"] = np.frombuffer(json.dumps(forms).encode("ascii"), np.uint8)
    with replace_file(path, lasting=False) as temporary, open(temporary, "wb") as file:
        np.savez(file, **arrays)


def _as_bytes(table: pa.Table) -> np.ndarray:
    import pyarrow as pa

    content = io.BytesIO()
    with pa.ipc.new_stream(content, table.schema) as stream:
        stream.write_table(table)
    return np.frombuffer(content.getvalue(), np.uint8)


@dataclass(frozen=True, slots=True)
class Part:
    """A file that a job wrote; only what is asked for is read."""

    path: Path

    @classmethod
    def sound(cls, path: Path) -> Self | None:
        """Return a part if all of its file can be read, and is what was written (by its sums of control)."""
        part = cls(path)
        try:
            with zipfile.ZipFile(path) as file:
                if file.testzip() is not None:
                    return None
            part.counts()
        except (ReadError, *_DAMAGED):
            return None
        return part

    def _read(self, *names: str) -> list[Any]:
        try:
            with open_file(self.path) as handle, np.load(handle, allow_pickle=False) as file:
                return [file[name] if name in file else None for name in names]
        except _DAMAGED as error:
            raise ReadError(
                f"{self.path} was damaged while the collection was counted ({error!s:.80}); start again: what is sound "
                "is not counted twice"
            ) from error

    def _table(self, name: str) -> pa.Table | None:
        import pyarrow as pa

        (content,) = self._read(name)
        return None if content is None else pa.ipc.open_stream(pa.py_buffer(content)).read_all()

    def counts(self) -> sp.csr_matrix:
        """Return the counts; the columns of a row in any order, but those of a vocabulary ascend."""
        data, indices, indptr, sizes = self._read("data", "indices", "indptr", "sizes")
        return assemble_csr(data, indices, indptr, int(sizes[1]))

    def sizes(self) -> tuple[int, int]:
        """Return the number of documents, and of pairs of a document and a word."""
        (sizes,) = self._read("sizes")
        return int(sizes[0]), int(sizes[2])

    def words(self) -> pa.Table:
        """Return the words with the documents and the tokens of each."""
        return self._table("words")

    def has_names(self) -> bool:
        """Return whether a document has a name."""
        return self._read("names")[0] is not None

    def names(self) -> Any:
        """Return the names of the documents, an array of Arrow; None where none has a name."""
        table = self._table("names")
        return None if table is None else table["name"].combine_chunks()

    def forms(self) -> dict[str, frozenset[str]]:
        """Return what the values of the columns are that are kept."""
        (content,) = self._read("forms")
        return {name: frozenset(forms) for name, forms in json.loads(content.tobytes()).items()}

    def kept(self, n_documents: int) -> Gathered:
        """Return the columns that are kept."""
        return Gathered(self._table("kept"), n_documents)


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a collection."""

    words: list[str]
    n_entries: int  # pairs of a document and one of these words
    encoded: Any = None  # the words as parts have them; None where parts have these columns already

    @classmethod
    def chosen(cls, parts: Iterable[Part], n_documents: int, options: TextOptions) -> Self:
        """Choose the words of all parts together, as `count_texts` does."""
        waiting: list[Any] = []
        n_rows = 0
        for part in parts:
            waiting.append(part.words())
            n_rows += waiting[-1].num_rows
            if n_rows > _ROWS_AT_ONCE + waiting[0].num_rows:
                waiting = [_summed(waiting)]
                n_rows = waiting[0].num_rows
        table = _summed(waiting)
        words = table["word"].combine_chunks()
        documents, tokens = (table[name].to_numpy() for name in ("documents", "tokens"))
        kept = kept_words(words, documents, tokens, n_documents, options)
        chosen = words.take(kept)
        return cls(chosen.to_pylist(), int(documents[kept].sum()), chosen)

    def in_part(self, part: Part) -> sp.csr_matrix:
        """Return the counts of a part in the columns of these words."""
        import pyarrow.compute as pc

        counts = part.counts()
        if self.encoded is None:
            return counts
        found = pc.index_in(part.words()["word"], value_set=self.encoded)
        places = np.asarray(found.fill_null(-1).to_numpy(), np.int64)
        return in_columns(counts, places, len(self.words))


def _summed(tables: list[Any]) -> pa.Table:
    """Sum up the words of parts."""
    import pyarrow as pa

    if not tables:
        return pa.table({"word": arrow_texts([]), "documents": np.empty(0, np.int64), "tokens": np.empty(0, np.int64)})
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
    words: Words,
    layout: Layout,
    told: Callable[[int], None],
    runner: Engine,
) -> None:
    """Write the parts of a collection in their order; as many are made ready at once as there are threads."""
    import pyarrow as pa

    named = any(part.has_names() for part in parts)
    rows = np.cumsum([0, *(part.sizes()[0] for part in parts)]).tolist()

    def ready(number: int) -> tuple[sp.csr_matrix, Any, pa.Table | None]:
        part = parts[number]
        counts = words.in_part(part)
        own = part.names() if named else None
        if named and own is None:
            own = pa.nulls(counts.shape[0], pa.large_string())
        names = names_of([(own, counts.shape[0])], rows[number])
        return counts, names, layout.typed(part.kept(counts.shape[0])) if layout.forms else None

    for first in range(0, len(parts), runner.n_threads):
        at_once = range(first, min(first + runner.n_threads, len(parts)))
        for number, found in zip(at_once, runner.map(ready, at_once), strict=True):
            writer.add(*found)
            told(number + 1)
