"""A job: some pieces of a collection, counted by one worker and written to files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

from stickbreak.corpus.metadata import Gatherer
from stickbreak.corpus.reading.fields import ALL
from stickbreak.corpus.reading.pieces import Piece
from stickbreak.corpus.reading.text_blocks import TextBlock
from stickbreak.corpus.text_counter import count_blocks
from stickbreak.corpus.text_settings import TextOptions
from stickbreak.counting.part import FORM, Part, write_part
from stickbreak.storage.atomic import replace_file
from stickbreak.storage.plain_files import read_text

__all__ = ["Counting", "Done", "Job", "count_job", "done_before", "jobs_of"]

_ENOUGH = 3 / 4  # of a step: the rest of a file that was cut makes no job of twice the size with the next file
_OF_PRUNING = ("min_df", "max_df", "max_features")  # they are asked for once all is counted


@dataclass(frozen=True, slots=True)
class Counting:
    """What all jobs share.

    Attributes
    ----------
    folder : Path
        Where parts are written.
    options : TextOptions
        How text becomes counts.
    vocabulary : tuple of str or None
        The words to count; None: all.
    keep : tuple of str
        Fields that are kept.
    step : int
        Bytes of text that are counted together, about: more of a piece become another part.
    digest : str
        Of all but the folder and what is asked for once all is counted.
    """

    folder: Path
    options: TextOptions
    vocabulary: tuple[str, ...] | None
    keep: tuple[str, ...]
    step: int
    digest: str

    @classmethod
    def of(
        cls, folder: Path, options: TextOptions, vocabulary: tuple[str, ...] | None, keep: tuple[str, ...], step: int
    ) -> Self:
        """Return what all jobs share."""
        of_text = {name: value for name, value in options.as_plain().items() if name not in _OF_PRUNING}
        digest = _digest([version("stickbreak"), FORM, of_text, vocabulary, keep, step])
        return cls(folder, options, vocabulary, keep, step, digest)


@dataclass(frozen=True, slots=True)
class Job:
    """Pieces that are counted together."""

    pieces: tuple[Piece, ...]

    def name(self, counting: Counting) -> str:
        """Return a name that no other input, or other settings, have."""
        return _digest([counting.digest, asdict(self)])


def _digest(told: Any) -> str:
    return hashlib.sha256(json.dumps(told, default=str, sort_keys=True).encode("ascii")).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Done:
    """The parts that a job has written."""

    parts: tuple[Part, ...]


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
    name = job.name(counting)
    parts: list[Part] = []
    for portion in _portions((block for piece in job.pieces for block in piece.blocks()), counting):
        path = counting.folder / f"{name}-{len(parts)}.npz"
        counts, words = count_blocks(portion, counting.options, counting.vocabulary)
        kept = portion.gatherer.gathered() if counting.keep else None
        names = b"".join(portion.names), portion.n_named
        write_part(path, counts, words, names, kept)
        parts.append(Part(path))
    with replace_file(_mark(counting, name), lasting=False) as temporary:
        temporary.write_text(json.dumps(len(parts)), encoding="ascii")
    return Done(tuple(parts))


def done_before(counting: Counting, job: Job) -> Done | None:
    """Return what a job has written before; None if it has not, or what it wrote is damaged."""
    name = job.name(counting)
    try:
        n_parts = int(read_text(_mark(counting, name), "ascii"))
    except (OSError, ValueError):
        return None
    parts = [Part.sound(counting.folder / f"{name}-{number}.npz") for number in range(n_parts)]
    return None if None in parts else Done(tuple(part for part in parts if part is not None))


def _mark(counting: Counting, name: str) -> Path:
    return counting.folder / f"{name}.done"


class _Portion:
    """Documents that are counted together; while they are, their names and what is kept of them are set aside."""

    def __init__(self, first: TextBlock, rest: Iterator[TextBlock], counting: Counting) -> None:
        self._first, self._rest, self._counting = first, rest, counting
        self.names: list[bytes] = []
        self.n_named = 0
        self.gatherer = Gatherer(() if counting.keep == ALL else counting.keep)

    def __iter__(self) -> Iterator[TextBlock]:
        size, block = 0, self._first
        while True:
            self.names.append(block.names)
            self.n_named += block.n_named
            if isinstance(block.kept, dict):
                self.gatherer.add_columns(block.kept, block.ends.size)
            elif self._counting.keep:
                for values in block.kept:
                    self.gatherer.add(values)
            yield block
            size += len(block.content) + block.ends.size
            found = next(self._rest, None) if size < self._counting.step else None
            if found is None:
                return
            block = found


def _portions(blocks: Iterator[TextBlock], counting: Counting) -> Iterator[_Portion]:
    while (first := next(blocks, None)) is not None:
        yield _Portion(first, blocks, counting)
