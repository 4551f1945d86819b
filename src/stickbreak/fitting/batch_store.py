"""What a fit keeps of its batches from pass to pass: in memory, or each batch in a file of a scratch folder.

A job takes what is kept of its batch from a `BatchRef`, which travels, and returns what stands for the new one: the
item itself, or the file that it has written. The caller puts that in its place. A job that is done twice writes the
same file twice.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from stickbreak.exceptions import ReadError
from stickbreak.fitting.engine import Workers
from stickbreak.storage.atomic import told_as_write_error
from stickbreak.storage.checksums import checksum
from stickbreak.storage.places import PathLike, place_of
from stickbreak.storage.temporary_folders import TemporaryFolder

Item = TypeVar("Item")
Arrays = dict[str, NDArray]

_INTEGERS = {"I64": np.int64, "I32": np.int32, "U64": np.uint64, "U32": np.uint32, "U16": np.uint16}
_TYPES = {"F64": np.float64, **_INTEGERS}  # as safetensors names them


def scratch_folder(scratch: PathLike | None, workers: Workers | None) -> Path | None:
    """Return where a fit keeps its batches; None: in memory.

    Where batches are visited by workers that is always a folder: what is kept of documents does not travel.
    """
    if scratch is None:
        return None if workers is None else workers.scratch
    folder = place_of(scratch).absolute()
    with told_as_write_error(folder):
        folder.mkdir(parents=True, exist_ok=True)
    return folder


class BatchFile(NamedTuple):
    """A file that has the arrays of a batch: complete or absent, and never changed."""

    path: str
    checksum: int

    @classmethod
    def written(cls, path: str, arrays: Arrays) -> BatchFile:
        """Write arrays; a WriteError if the disk is full."""
        from safetensors.numpy import save

        content = save({name: np.ascontiguousarray(array) for name, array in arrays.items()})
        growing = Path(f"{path}.{secrets.token_hex(4)}")
        with told_as_write_error(path):
            try:
                growing.write_bytes(content)
                os.replace(growing, path)
            except BaseException:
                growing.unlink(missing_ok=True)
                raise
        return cls(path, checksum(np.frombuffer(content, np.uint8)))

    def read(self) -> Arrays:
        """Return the arrays; a ReadError if the file is gone or damaged."""
        try:
            content = np.fromfile(self.path, np.uint8)
        except OSError as error:
            raise self._unreadable(f"cannot be read ({error.strerror})") from None
        if checksum(content) != self.checksum:
            raise self._unreadable("is damaged")
        return _views(content)

    def mapped(self) -> Arrays:
        """Return the arrays, mapped into memory: what is not looked at is not read, nor checked."""
        try:
            return _views(np.memmap(self.path, np.uint8, "c"))
        except (OSError, ValueError) as error:
            raise self._unreadable(f"cannot be read ({error!s:.80})") from None

    def _unreadable(self, problem: str) -> ReadError:
        return ReadError(
            f"{self.path}, where a fit keeps what belongs to some documents, {problem}; leave the scratch folder alone "
            "while a fit runs, and fit again, or go on from a checkpoint with resume."
        )


def _views(content: NDArray[np.uint8]) -> Arrays:
    """Return the arrays in the bytes of a safetensors file, without a copy."""
    begin = 8 + int(content[:8].view(np.uint64)[0])
    found: Arrays = {}
    for name, about in json.loads(content[8:begin].tobytes()).items():
        first, last = (begin + offset for offset in about["data_offsets"])
        found[name] = np.asarray(content[first:last]).view(_TYPES[about["dtype"]]).reshape(about["shape"])
    return found


@dataclass(frozen=True, slots=True)
class BatchRef(Generic[Item]):
    """The place of a batch in a store, as a job names it."""

    pack: Callable[[Item], Arrays]
    unpack: Callable[[Arrays], Item]
    kept: Item | BatchFile | None
    path: str  # of the file that takes its place; empty: it stays in memory

    def load(self) -> Item:
        """Return what is kept there."""
        if isinstance(self.kept, BatchFile):
            return self.unpack(self.kept.read())
        assert self.kept is not None
        return self.kept

    def save(self, item: Item) -> Item | BatchFile:
        """Keep another item; return what `BatchStore.put` puts in its place."""
        return BatchFile.written(self.path, self.pack(item)) if self.path else item


class BatchStore(Generic[Item]):
    """One item for each batch, in order.

    `pack` makes arrays of an item and `unpack` an item of arrays; both can be pickled. With a `folder` each item is in
    a file, in a folder of its own there, which is removed with the store; without one all are in memory.
    """

    def __init__(
        self,
        pack: Callable[[Item], Arrays],
        unpack: Callable[[Arrays], Item],
        folder: Path | None = None,
        items: Iterable[Item] = (),
    ) -> None:
        self._pack, self._unpack, self._scratch = pack, unpack, folder
        self._folder = None if folder is None else TemporaryFolder(folder, "stickbreak-fit")
        self._kept: list[Item | BatchFile] = []
        self._numbers = count(1)
        for index, item in enumerate(items):
            self.put(index, self.ref(index).save(item))

    def __len__(self) -> int:
        return len(self._kept)

    @overload
    def __getitem__(self, index: int) -> Item: ...

    @overload
    def __getitem__(self, index: slice) -> list[Item]: ...

    def __getitem__(self, index: int | slice) -> Item | list[Item]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        return self.ref(range(len(self))[index]).load()

    def __iter__(self) -> Iterator[Item]:
        return (self[index] for index in range(len(self)))

    def ref(self, index: int) -> BatchRef[Item]:
        """Return the place of a batch, for a job; `len(store)` is the place of the next batch."""
        path = "" if self._folder is None else f"{self._folder.path}/{index}-{next(self._numbers)}"
        return BatchRef(self._pack, self._unpack, self._kept[index] if index < len(self) else None, path)

    def put(self, index: int, kept: Any) -> None:
        """Put what `BatchRef.save` returned in its place, at the end where there is none yet."""
        before = self._kept[index : index + 1]
        self._kept[index : index + 1] = [kept]
        for file in before:
            if isinstance(file, BatchFile):
                with contextlib.suppress(OSError):
                    os.unlink(file.path)

    def remade(self, items: Iterable[Item]) -> BatchStore[Item]:
        """Return a store of the same kind with other items, which are taken one by one."""
        return BatchStore(self._pack, self._unpack, self._scratch, items)

    def arrays(self, index: int) -> Arrays:
        """Return the arrays of an item; those of a file are mapped, and outlive the store."""
        kept = self._kept[index]
        return kept.mapped() if isinstance(kept, BatchFile) else self._pack(kept)
