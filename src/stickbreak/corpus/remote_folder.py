"""A corpus folder at a URL: fetched to be opened, or only the rows that a job needs."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from stickbreak.corpus.corpus import Corpus, Place
from stickbreak.corpus.csr import assemble_csr
from stickbreak.corpus.reading.files import reading
from stickbreak.exceptions import ReadError
from stickbreak.storage.atomic import told_as_write_error
from stickbreak.storage.temporary_folders import TemporaryFolder
from stickbreak.storage.urls import UrlPath

META = "corpus.json"
PIECE = 1 << 22  # bytes that are fetched and kept together
MOST_KEPT = 1 << 31  # bytes of a collection that a process keeps on its disk
AT_ONCE = 1 << 24  # bytes that are in memory at once, beside the rows, where rows lie far apart
_ARRAYS = ("indptr", "indices", "data")

Array = NDArray


def mark_of_folder(folder: UrlPath) -> int:
    """Return a number of the files of a corpus folder: another one where they are written again."""
    stats = [tuple((folder / name).stat()) for name in (META, *(f"{name}.npy" for name in _ARRAYS))]
    told = (folder / META).range(0, stats[0][0]) + repr(stats).encode("ascii")
    return int.from_bytes(hashlib.blake2b(told, digest_size=7).digest(), "little")


def rows_at(place: Place, selection: NDArray[np.integer] | None) -> Corpus:
    """Return documents of a folder at a URL, without words and names; whoever made the place has checked them."""
    indptr, indices, data = _arrays(place.folder, place.written)
    ends = indptr.read(place.first, place.last + 1)
    if selection is None:
        first, last = int(ends[0]), int(ends[-1])
        counts = data.read(first, last), indices.read(first, last), ends - ends[0]
        return Corpus(assemble_csr(*counts, place.n_words))
    order = np.argsort(selection, kind="stable")
    begin, end = ends[:-1][selection[order]].astype(np.int64), ends[1:][selection[order]].astype(np.int64)
    starts = np.concatenate(([0], np.cumsum(end - begin))).astype(ends.dtype)
    found = Corpus(assemble_csr(data.gather(begin, end), indices.gather(begin, end), starts, place.n_words))
    back = np.empty_like(order)
    back[order] = np.arange(order.size)
    return found if (order == back).all() else found[back]


@lru_cache(maxsize=2)
def _arrays(folder: str, written: int) -> tuple[_Array, _Array, _Array]:
    """Open the arrays of a folder, once in a process."""
    url = UrlPath(folder)
    with reading(url):
        try:
            found = mark_of_folder(url)
        except FileNotFoundError:
            found = -1
        if found != written:
            raise ReadError(f"{url} is not there, or was written again while it was in use; start again")
        kept = _Kept()
        indptr, indices, data = (_Array(url / f"{name}.npy", kept) for name in _ARRAYS)
    return indptr, indices, data


class _Kept:
    """What a process has fetched of a collection: files on its own disk, as many as there is room for.

    A pass asks for all of a collection in turn. So what is there stays: the oldest is always the next to be asked for.
    """

    def __init__(self) -> None:
        self._folder = TemporaryFolder(Path(tempfile.gettempdir()), "stickbreak-fetched")
        self._n_bytes = 0

    def piece(self, file: UrlPath, number: int) -> bytes | None:
        """Return a piece of a file if it was kept."""
        try:
            return Path(self._name(file, number)).read_bytes()
        except FileNotFoundError:
            return None

    def has_room(self) -> bool:
        """Return whether another piece would be kept."""
        return self._n_bytes + PIECE <= MOST_KEPT

    def keep(self, file: UrlPath, number: int, content: bytes) -> None:
        """Keep a piece; where the disk is full nothing is kept."""
        name = self._name(file, number)
        temporary = f"{name}.{secrets.token_hex(4)}"
        self._n_bytes += len(content)
        try:
            Path(temporary).write_bytes(content)
            os.replace(temporary, name)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(temporary)

    def _name(self, file: UrlPath, number: int) -> str:
        return f"{self._folder.path}/{file.name}-{number}"


class _Array:
    """An array of one dimension in NumPy's .npy format at a URL."""

    def __init__(self, file: UrlPath, kept: _Kept) -> None:
        with file.open() as handle:
            try:
                np.lib.format.read_magic(handle)
                _, _, self._dtype = np.lib.format.read_array_header_1_0(handle)
            except ValueError as error:
                raise ReadError(f"{file} is damaged ({error!s:.80}); write the corpus again") from error
            self._start = handle.tell()
        self._file, self._kept = file, kept

    def read(self, begin: int, end: int) -> Array:
        """Return the numbers begin .. end - 1."""
        size = self._dtype.itemsize
        first, last = self._start + begin * size, self._start + end * size
        with reading(self._file):
            content = b"".join(self._pieces(first, last)) if last > first else b""
        if len(content) != last - first:
            raise ReadError(f"{self._file} is damaged: it ends too early; write the corpus again")
        return np.frombuffer(content, self._dtype)

    def gather(self, begin: Array, end: Array) -> Array:
        """Return the numbers of several ranges, which ascend, one after another."""
        out, at = np.empty(int((end - begin).sum()), self._dtype), 0
        for first, last in _groups(begin, end, AT_ONCE // self._dtype.itemsize):
            start = int(begin[first])
            block = self.read(start, int(end[last - 1]))
            for a, b in zip((begin[first:last] - start).tolist(), (end[first:last] - start).tolist(), strict=True):
                out[at : at + b - a] = block[a:b]
                at += b - a
        return out

    def _pieces(self, first: int, last: int) -> Iterator[bytes]:
        """Give the bytes first .. last - 1 of the file, piece by piece."""
        for number in range(first // PIECE, (last - 1) // PIECE + 1):
            begin = number * PIECE
            a, b = max(first - begin, 0), min(last - begin, PIECE)
            piece = self._kept.piece(self._file, number)
            if piece is not None:
                yield piece[a:b]
            elif self._kept.has_room():
                piece = self._file.range(begin, PIECE)
                self._kept.keep(self._file, number, piece)
                yield piece[a:b]
            else:
                yield self._file.range(begin + a, b - a)


def _groups(begin: Array, end: Array, most: int) -> Iterator[tuple[int, int]]:
    """Give runs of ranges that lie within `most` numbers, or are alone."""
    first = 0
    for n in range(1, begin.size + 1):
        if n == begin.size or end[n] - begin[first] > most:
            yield first, n
            first = n


_BLOCK = 1 << 22  # bytes


@contextmanager
def fetched(url: UrlPath, names: Sequence[str]) -> Iterator[tuple[Path, int]]:
    """Give a copy of a corpus folder on this machine, and the number of its files.

    The copy has no name any more when the block ends. What is still mapped then stays on the disk until it is not, also
    where the process is killed.
    """
    own = TemporaryFolder(Path(tempfile.gettempdir()), "stickbreak-fetched")
    folder = Path(own.path)
    try:
        with reading(url):
            if not url.is_dir():
                raise ReadError(f"{url} is not a folder, or does not exist; check the name")
            mark = _mark(url)
            for name in names:
                _fetch(url / name, folder / name)
        try:
            yield folder, mark
        except ReadError as error:
            raise ReadError(str(error).replace(own.path, str(url))) from error
    finally:
        own.close()


def _mark(url: UrlPath) -> int:
    try:
        return mark_of_folder(url)
    except FileNotFoundError as error:
        raise ReadError(f"{url} is not a whole corpus folder: {error} is missing; name one made by count") from error


def _fetch(file: UrlPath, target: Path) -> None:
    """Copy a file, if there is one."""
    try:
        source = file.open()
    except FileNotFoundError:
        return
    with source, open(target, "wb") as copy:
        while block := source.read(_BLOCK):
            with told_as_write_error(tempfile.gettempdir()):
                copy.write(block)
