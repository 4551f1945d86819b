"""Files of counts and of their words: Matrix Market, UCI bag of words, LDA-C, SVMlight, SciPy's .npz.

Headers are read here, numbers by pandas, and archives by SciPy. SciPy's reader of Matrix Market is not used: it ends
the process for some broken files.
"""

from __future__ import annotations

import csv
import io
import math
import os
import re
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp

from stickbreak.corpus.reading.decoding import decoded_lines
from stickbreak.corpus.reading.files import DEFAULT_LIMITS, PACKED, ReadLimits, open_binary, path_beside, reading
from stickbreak.exceptions import InputError, InvalidCorpus, ReadError
from stickbreak.storage.places import PathLike
from stickbreak.storage.plain_files import open_file

_BESIDE = (
    "vocab.{}.txt",
    "{}.vocab",
    "{}.tokens",
    "{}.vocab.txt",
    "vocab_{}.txt",
    "vocab.txt",
    "vocabulary.txt",
)


def read_vocabulary(path: Path, encoding: str = "utf-8", limits: ReadLimits = DEFAULT_LIMITS) -> tuple[str, ...]:
    """Read a vocabulary: line i is the word of column i (both from 0 upwards)."""
    words = [line.rstrip("\r\n") for line in decoded_lines(path, encoding, limits)]
    while words and not words[-1]:
        words.pop()
    if not words:
        raise ReadError(f"{path} is empty; a vocabulary has one word on each line")
    line_of: dict[str, int] = {}
    for number, word in enumerate(words, start=1):
        if not word:
            raise ReadError(f"{path}, line {number} is empty; a vocabulary has one word on each line")
        if word in line_of:
            raise InvalidCorpus(
                f"{path} holds {word!r} twice, on the lines {line_of[word]} and {number}; rename one of the two"
            )
        line_of[word] = number
    return tuple(words)


def find_vocabulary(counts_path: Path) -> Path | None:
    """Find the vocabulary of a file of counts by the usual names."""
    name, ending = os.path.splitext(counts_path.name)
    name = os.path.splitext(name)[0] if ending.lower() in PACKED else name
    name = name.removeprefix("docword").lstrip("._")
    for pattern in _BESIDE:
        if "{}" in pattern and not name:
            continue
        beside = path_beside(counts_path, pattern.format(name))
        if beside is not None and beside.name != counts_path.name:
            return beside
    return None


def given_words(vocabulary: Any, encoding: str, limits: ReadLimits) -> tuple[str, ...] | None:
    """Return words that were given, read where they are in a file; they are checked with the counts."""
    if vocabulary is None:
        return None
    if isinstance(vocabulary, (str, os.PathLike)):
        return read_vocabulary(Path(vocabulary), encoding, limits)
    try:
        return tuple(vocabulary)
    except TypeError:
        raise InputError(f"vocabulary is {vocabulary!r:.40}; give a list of words or the path of a file") from None


def vocabulary_for(
    counts_path: Path, given: Sequence[str] | PathLike | None, encoding: str, limits: ReadLimits
) -> tuple[tuple[str, ...] | None, str]:
    """Give the words of a file of counts, and where they come from."""
    place = find_vocabulary(counts_path) if given is None else given
    is_file = isinstance(place, (str, os.PathLike))
    return given_words(place, encoding, limits), str(place) if is_file else "the given vocabulary"


_LARGEST = 2**31 - 1
_BYTES_OF_AN_ENTRY = 12  # of a file, about
_FORTRAN = bytes.maketrans(b"dD", b"ee")  # it writes 1.5D+02
_SIZES = re.compile(rb"\d{1,18}(?:\s+\d{1,18})*")
_PAIRS = re.compile(rb"\d{1,18}(?:\s+\d{1,18}:\d{1,18})*+")


def _shown(content: bytes) -> str:
    return repr(content[:61].decode("utf-8", "backslashreplace").strip())[:60]


def _lines(file: BinaryIO, path: Path, limits: ReadLimits) -> Iterator[tuple[int, bytes]]:
    """Give the lines of a file, numbered from 1."""
    number = 0
    while line := file.readline(limits.document_bytes + 1):
        number += 1
        if len(line) > limits.document_bytes:
            raise limits.too_long(f"line {number} of {path}")
        yield number, line


class _Numbers(io.RawIOBase):
    """What is left of a file of numbers, with exponents as all but Fortran write them."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        content = self._file.read(len(buffer)).translate(_FORTRAN)
        buffer[: len(content)] = content
        return len(content)


def _columns(
    file: BinaryIO, path: Path, n_before: int, dtypes: tuple[str, ...], what: str, limits: ReadLimits
) -> list[np.ndarray]:
    """Read the rest of a file that has the same numbers on each line; return them by columns."""
    import pandas as pd

    names = list(range(len(dtypes)))
    kinds: Any = dict(zip(names, dtypes, strict=True))
    try:
        with np.errstate(invalid="ignore"):  # pandas refuses these by itself
            frame = pd.read_csv(
                io.BufferedReader(_Numbers(file)),
                sep=r"\s+",
                header=None,
                names=names,
                index_col=False,
                dtype=kinds,
                na_filter=False,
                quoting=csv.QUOTE_NONE,
                encoding="latin-1",
            )
    except pd.errors.EmptyDataError:
        return [np.empty(0, dtype) for dtype in dtypes]
    except (ValueError, OverflowError) as error:
        wrong = next(_wrong_lines(path, n_before, dtypes, limits), f"the lines hold other values ({error!s:.80})")
        raise ReadError(f"{path}, {wrong}; each line must hold {what}") from error
    return [frame[name].to_numpy() for name in names]


def _wrong_lines(path: Path, n_before: int, dtypes: tuple[str, ...], limits: ReadLimits) -> Iterator[str]:
    """Name the lines that do not hold the numbers that they should."""
    with open_binary(path, limits) as file:
        for number, line in _lines(file, path, limits):
            fields = line.split()
            if number <= n_before or not fields:
                continue
            try:
                for field, dtype in zip(fields, dtypes, strict=True):
                    np.dtype(dtype).type(float(field.translate(_FORTRAN)) if dtype == "float64" else int(field[:20]))
            except (ValueError, OverflowError):
                yield f"line {number} is {_shown(line)}"


def _check_places(path: Path, places: np.ndarray, size: int, what: str) -> None:
    wrong = np.flatnonzero((places < 1) | (places > size))
    if wrong.size:
        raise ReadError(
            f"{path} names {what} {places[wrong[0]]} in entry {wrong[0] + 1}, but declares {size}; they count from 1"
        )


def read_matrix_market(path: Path, limits: ReadLimits = DEFAULT_LIMITS) -> Any:
    """Read a Matrix Market file: sparse ("coordinate") or dense ("array"), of real or whole numbers, or a pattern."""
    with open_binary(path, limits) as file:
        banner: list[str] = []
        sizes: list[int] = []
        number = 0
        for number, line in _lines(file, path, limits):  # noqa: B007
            content = line.strip()
            if not banner:
                banner = _banner(content, path)
            elif content and not content.startswith(b"%"):
                sizes = [int(size) for size in content.split()] if _SIZES.fullmatch(content) else []
                break
        dense, valued = banner[1:2] == ["array"], banner[2:3] != ["pattern"]
        if len(sizes) != (2 if dense else 3):
            names = "rows and columns" if dense else "rows, columns and entries"
            raise ReadError(
                f"{path}, line {number} must give the {names} of this Matrix Market file; it is cut off or wrong"
            )
        D, W = sizes[0], sizes[1]
        dtypes = (() if dense else ("int64", "int64")) + (("float64",) if valued else ())
        what = "a value" if dense else "row, column, value" if valued else "row, column"
        arrays = _columns(file, path, number, dtypes, f"{what}, as a Matrix Market file has them", limits)
    n_stored = D * W if dense else sizes[-1]
    if arrays[0].size != n_stored:
        raise ReadError(
            f"{path} is a Matrix Market file of {arrays[0].size} entries, but its line {number} asks for "
            f"{n_stored}; the file is cut off or that line is wrong"
        )
    limits.check_shape(path, (D, W), _BYTES_OF_AN_ENTRY * n_stored)
    if dense:
        return sp.csr_matrix(arrays[0].reshape((D, W), order="F"))
    _check_places(path, arrays[0], D, "row")
    _check_places(path, arrays[1], W, "column")
    values = arrays[2] if valued else np.ones(n_stored)
    return sp.coo_matrix((values, (arrays[0] - 1, arrays[1] - 1)), shape=(D, W))


def _banner(line: bytes, path: Path) -> list[str]:
    """Check the first line and return its four words: object, format, field, symmetry."""
    words = line.decode("latin-1").split()
    if not words or words[0] not in ("%%MatrixMarket", "%MatrixMarket"):
        raise ReadError(
            f"{path} begins with {_shown(line)}, so it is not a Matrix Market file, which begins with "
            "'%%MatrixMarket'; give another format"
        )
    found = [word.lower() for word in words[1:5]]
    fields = ("real", "double", "integer", "unsigned-integer", "pattern")
    known = (("matrix",), ("coordinate", "array"), fields[:4] if found[1:2] == ["array"] else fields, ("general",))
    if len(found) < len(known) or not all(word in words for word, words in zip(found, known, strict=True)):
        raise ReadError(
            f"{path}, line 1 must read '%%MatrixMarket matrix coordinate integer general' or the like, not "
            f"{_shown(line)}; counts of documents x words are real and not symmetric"
        )
    return found


def read_uci(path: Path, limits: ReadLimits = DEFAULT_LIMITS) -> Any:
    """Read a docword file of UCI's bags of words: lines with D, W and entries; then "document word count", from 1."""
    with open_binary(path, limits) as file:
        head = [file.readline(1 << 16).removeprefix(b"\xef\xbb\xbf") for _ in range(3)]
        if not all(re.fullmatch(rb"0*\d{1,18}", line.strip()) for line in head):
            raise ReadError(
                f"{path} does not begin with three lines of one number each (documents, words, entries), so it is "
                "not a UCI bag of words; give another format"
            )
        D, W, n_entries = (int(line) for line in head)
        if D == 0 or W == 0 or max(D, W) > _LARGEST:
            raise ReadError(f"{path} declares {D} documents and {W} words; both must be at least 1 and below 2^31")
        what = "three whole numbers (document, word, count)"
        row, column, count = _columns(file, path, 3, ("int64",) * 3, what, limits)
    if row.size != n_entries:
        raise ReadError(
            f"{path} holds {row.size} entries but its header declares {n_entries}; the file is cut off or its "
            "third line is wrong"
        )
    _check_places(path, row, D, "document")
    _check_places(path, column, W, "word")
    limits.check_shape(path, (D, W), _BYTES_OF_AN_ENTRY * n_entries)
    return sp.coo_matrix((count, (row - 1, column - 1)), shape=(D, W))


def read_ldac(
    path: Path, n_words: int | None, vocabulary_source: str = "the vocabulary", limits: ReadLimits = DEFAULT_LIMITS
) -> Any:
    """Read counts in the format of Blei's lda-c: "M word:count ..." with M words, numbered from 0; "0" is empty."""
    rows: list[np.ndarray] = []
    n_bytes = 0
    with open_binary(path, limits) as file:
        for number, line in _lines(file, path, limits):
            n_bytes += len(line)
            where = f"{path}, line {number}"
            if not _PAIRS.fullmatch(line.strip()):
                raise ReadError(
                    f"{where} is {_shown(line)}; it must read 'M word:count word:count ...' in whole numbers, and "
                    "0 for an empty document"
                )
            numbers = np.fromstring(line.replace(b":", b" "), np.int64, sep=" ")  # from text: the lines are long
            M, pairs = int(numbers[0]), numbers[1:].reshape(-1, 2)
            if len(pairs) != M:
                raise ReadError(
                    f"{where} declares {M} words but holds {len(pairs)}; the line is cut off or its first number "
                    "is wrong"
                )
            if numbers.max() > _LARGEST:
                raise ReadError(f"{where} holds the number {numbers.max()}; words and counts must be below 2^31")
            if n_words is not None and M and pairs[:, 0].max() >= n_words:
                raise ReadError(
                    f"{where} names word {pairs[:, 0].max()} but {vocabulary_source} has {n_words} words, "
                    "numbered from 0; give the vocabulary that belongs to these counts"
                )
            rows.append(pairs.astype(np.int32))
    entries = np.concatenate([*rows, np.zeros((0, 2), np.int32)])
    if n_words is None:
        n_words = int(entries[:, 0].max(initial=-1)) + 1
        limits.check_shape(path, (len(rows), n_words), n_bytes)
    if not rows or n_words == 0:
        raise ReadError(f"{path} holds no words at all; a corpus needs at least one document with a word")
    row = np.repeat(np.arange(len(rows)), [len(pairs) for pairs in rows])
    return sp.coo_matrix((entries[:, 1], (row, entries[:, 0])), shape=(len(rows), n_words))


def read_svmlight(
    path: Path, n_words: int | None = None, limits: ReadLimits = DEFAULT_LIMITS
) -> tuple[Any, np.ndarray]:
    """Read SVMlight: "label index:count ...", by scikit-learn; return counts (D, W) and the labels of documents."""
    from sklearn.datasets import load_svmlight_file

    with open_binary(path, limits) as file:
        content = file.read()
    try:
        counts, labels = load_svmlight_file(io.BytesIO(content), multilabel=False)
    except (ValueError, OverflowError, MemoryError, IndexError) as error:
        said = " ".join(f"{error}".split())
        raise ReadError(
            f"{path} is not an SVMlight file ({said:.80}); each line must read 'label index:count ...'"
        ) from error
    limits.check_shape(path, counts.shape, len(content))
    counts.resize(counts.shape[0], max(counts.shape[1], n_words or 0))  # the last words may not occur
    return counts, labels


def _check_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> None:
    """Refuse an array that says that it is larger than it is, before memory is asked for."""
    with archive.open(info) as member:
        first = np.lib.format.read_magic(member) == (1, 0)
        header = np.lib.format.read_array_header_1_0 if first else np.lib.format.read_array_header_2_0
        shape, _, dtype = header(member)
    if math.prod(shape) * dtype.itemsize > info.file_size:
        raise ValueError(f"its member {info.filename[:40]!r} declares more than it holds")


def read_npz(path: Path, limits: ReadLimits = DEFAULT_LIMITS) -> Any:
    """Read a sparse matrix written by scipy.sparse.save_npz; pickled content is never loaded."""
    with reading(path), open_file(path) as file:
        size = file.seek(0, 2)
        file.seek(0)
        try:
            with zipfile.ZipFile(file) as archive:
                n_bytes = max((info.file_size for info in archive.infolist()), default=0)
                for info in archive.infolist():
                    _check_member(archive, info)
            if n_bytes > limits.most_unpacked(size):
                raise ReadError(
                    f"{path} unpacks to {n_bytes} bytes; if that is right, raise the limit with "
                    f"--max-unpacked-bytes (in Python: limits=ReadLimits(unpacked_bytes={n_bytes}))"
                )
            file.seek(0)
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                matrix = sp.load_npz(file)
        except ReadError:
            raise
        except MemoryError as error:
            raise ReadError(f"{path} does not fit into the memory; it is too large for this machine") from error
        except Exception as error:  # whatever zipfile, NumPy and SciPy say about a damaged archive
            said = " ".join(f"{error}".split()) or type(error).__name__
            raise ReadError(
                f"{path} does not hold a SciPy sparse matrix ({said:.80}); write it by scipy.sparse.save_npz"
            ) from error
    if len(matrix.shape) != 2:
        raise ReadError(f"{path} holds a matrix of {len(matrix.shape)} dimensions; two are needed (documents, words)")
    limits.check_shape(path, matrix.shape, max(n_bytes, size))
    return matrix
