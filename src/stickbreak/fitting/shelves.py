"""What a fit keeps of its batches from visit to visit: in memory, or each batch in a file of a scratch folder.

A job takes what is kept of its batch from an `Entry`, which travels, and returns what stands for the new one: the thing
itself, or the file that it has written. The caller puts that in its place. A job that is done twice writes
the same file twice.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, Self, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from stickbreak.fitting.block_files import File, Folder, remove, unreadable, whole
from stickbreak.storage.checksums import checksum

__all__ = ["Entry", "InMemory", "OnDisk", "Packing", "Shelf"]

Thing = TypeVar("Thing")
Arrays = dict[str, NDArray]


@dataclass(frozen=True, slots=True)
class Packing(Generic[Thing]):
    """How a thing becomes arrays and is made of them again; both functions can be pickled."""

    pack: Callable[[Thing], Arrays]
    unpack: Callable[[Arrays], Thing]


class Entry(Protocol[Thing]):
    """The place of a batch on a shelf, as a job names it."""

    def load(self) -> Thing:
        """Return what is kept there."""
        ...

    def kept(self, thing: Thing) -> Any:
        """Keep another thing; return what `Shelf.take` puts in its place."""
        ...


class Shelf(Protocol[Thing]):
    """One thing for each batch, in order."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int) -> Thing: ...

    def __iter__(self) -> Iterator[Thing]: ...

    def entry(self, index: int) -> Entry[Thing]:
        """Return the place of a batch, for a job; `len(shelf)` is the place of the next batch."""
        ...

    def take(self, index: int, kept: Any) -> None:
        """Put what `Entry.kept` returned in its place, at the end where there is none yet."""
        ...

    def remade(self, things: Iterable[Thing]) -> Self:
        """Return a shelf of the same kind with other things, which are taken one by one."""
        ...

    def arrays(self, index: int) -> Arrays:
        """Return the arrays of a thing; those of a file are mapped, not read."""
        ...


@dataclass(frozen=True, slots=True)
class InHand(Generic[Thing]):
    """A thing in memory."""

    thing: Thing | None

    def load(self) -> Thing:
        """Return the thing."""
        assert self.thing is not None
        return self.thing

    def kept(self, thing: Thing) -> Thing:
        """Return the thing that takes its place."""
        return thing


class InMemory(list[Thing]):
    """A shelf in memory.

    Parameters
    ----------
    packing : Packing
    things : iterable
    """

    def __init__(self, packing: Packing[Thing], things: Iterable[Thing] = ()) -> None:
        super().__init__(things)
        self._packing = packing

    def entry(self, index: int) -> InHand[Thing]:
        """Return the place of a batch."""
        return InHand(self[index] if index < len(self) else None)

    def take(self, index: int, kept: Thing) -> None:
        """Put a thing in its place."""
        self[index : index + 1] = [kept]

    def remade(self, things: Iterable[Thing]) -> Self:
        """Return a shelf with other things."""
        return type(self)(self._packing, things)

    def arrays(self, index: int) -> Arrays:
        """Return the arrays of a thing."""
        return self._packing.pack(self[index])


@dataclass(frozen=True, slots=True)
class InFile(Generic[Thing]):
    """A thing in a file, and the name of the file that will take its place."""

    packing: Packing[Thing]
    file: File | None
    after: str

    def load(self) -> Thing:
        """Read the thing."""
        assert self.file is not None
        return self.packing.unpack(read_arrays(self.file))

    def kept(self, thing: Thing) -> File:
        """Write another thing; return its file."""
        return write_arrays(self.after, self.packing.pack(thing))


class OnDisk(Generic[Thing]):
    """A shelf of files, in a folder of its own that goes with it.

    Parameters
    ----------
    packing : Packing
    scratch : Path
        Where the folder is made.
    things : iterable
    """

    def __init__(self, packing: Packing[Thing], scratch: Path, things: Iterable[Thing] = ()) -> None:
        self._packing, self._scratch = packing, scratch
        self._folder, self._files = Folder(scratch), list[File]()
        for index, thing in enumerate(things):
            self.take(index, self.entry(index).kept(thing))

    def __len__(self) -> int:
        return len(self._files)

    @overload
    def __getitem__(self, index: int) -> Thing: ...

    @overload
    def __getitem__(self, index: slice) -> list[Thing]: ...

    def __getitem__(self, index: int | slice) -> Thing | list[Thing]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        return self.entry(range(len(self))[index]).load()

    def __iter__(self) -> Iterator[Thing]:
        return (self[index] for index in range(len(self)))

    def entry(self, index: int) -> InFile[Thing]:
        """Return the place of a batch, and the name of the file that takes its place."""
        file = self._files[index] if index < len(self._files) else None
        return InFile(self._packing, file, f"{self._folder.path}/{index}-{self._folder.next()}")

    def take(self, index: int, kept: File) -> None:
        """Put a file in its place, and remove the one before."""
        before = self._files[index : index + 1]
        self._files[index : index + 1] = [kept]
        for file in before:
            remove(file)

    def remade(self, things: Iterable[Thing]) -> Self:
        """Return a shelf with other things."""
        return type(self)(self._packing, self._scratch, things)

    def arrays(self, index: int) -> Arrays:
        """Return the arrays of a file, mapped: they outlive the shelf."""
        return mapped_arrays(self._files[index])


def write_arrays(path: str, arrays: Arrays) -> File:
    """Write arrays to a file, complete or not at all.

    Raises
    ------
    WriteError
        If the disk is full.
    """
    from safetensors.numpy import save

    content = save({name: np.ascontiguousarray(array) for name, array in arrays.items()})
    with whole(path) as growing:
        Path(growing).write_bytes(content)
    return File(path, checksum(np.frombuffer(content, np.uint8)))


def read_arrays(file: File) -> Arrays:
    """Read what `write_arrays` wrote.

    Raises
    ------
    ReadError
        If the file is gone or damaged.
    """
    try:
        content = np.fromfile(file.path, np.uint8)
    except OSError as error:
        raise unreadable(file.path, f"cannot be read ({error.strerror})") from None
    if checksum(content) != file.checksum:
        raise unreadable(file.path, "is damaged")
    return _arrays(content)


def mapped_arrays(file: File) -> Arrays:
    """Return what `write_arrays` wrote, mapped into memory: what is not looked at is not read, nor checked."""
    try:
        content = np.memmap(file.path, np.uint8, "c")
    except (OSError, ValueError) as error:
        raise unreadable(file.path, f"cannot be read ({error!s:.80})") from None
    return _arrays(content)


def _arrays(content: NDArray[np.uint8]) -> Arrays:
    """Return the arrays in the bytes of a file, as views."""
    begin = 8 + int(content[:8].view(np.uint64)[0])
    head = json.loads(content[8:begin].tobytes())
    types = {"F64": np.float64, "I64": np.int64, "I32": np.int32, "U16": np.uint16}
    found: Arrays = {}
    for name, about in head.items():
        first, last = (begin + offset for offset in about["data_offsets"])
        found[name] = np.asarray(content[first:last]).view(types[about["dtype"]]).reshape(about["shape"])
    return found
