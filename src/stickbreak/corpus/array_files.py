"""Folders of plain arrays and JSON lines: what every folder of a collection is made of."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from stickbreak.corpus.reading.files import DEFAULT_LIMITS, ReadLimits, open_binary, reading
from stickbreak.exceptions import ReadError
from stickbreak.storage.plain_files import open_file, read_json

_MOST_META = 1 << 20  # bytes of the JSON file, which holds a few numbers


def read_meta(folder: Path, name: str, fields: Sequence[str], *, what: str, version: int) -> dict[str, Any]:
    """Read the JSON file of a folder and check that it is one of ours."""
    file = folder / name
    if folder.is_dir() and not file.exists():
        raise ReadError(f"{folder} is not a {what} folder: it has no {name}; name one made by write_{what}")
    with reading(folder if not folder.exists() else file):
        try:
            meta: dict[str, Any] = read_json(file, _MOST_META)
            kind, found = meta["kind"], meta["version"]
            for field in fields:
                meta[field] = int(meta[field])
            if not isinstance(found, int):
                raise TypeError(f"its version is {found!r}")
        except (ValueError, KeyError, TypeError, OverflowError) as error:
            raise ReadError(f"{file} is damaged ({error!s:.80}); write the {what} again") from error
    wanted = f"stickbreak {what}"
    if kind != wanted or found > version:
        raise ReadError(
            f"{file} is of kind {kind!r:.40}, version {found!s:.20}; this stickbreak reads {wanted!r} up "
            f"to version {version}"
        )
    return meta


def open_array(file: Path, what: str) -> np.ndarray:
    """Open an array memory-mapped, if the file has as many bytes as its header says."""
    with reading(file):
        open_file(file).close()
        try:
            with np.errstate(over="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of a header that is no header
                array = np.load(file, mmap_mode="r", allow_pickle=False)
            fits = array.offset + array.nbytes == file.stat().st_size
        except OSError:
            raise
        except Exception as error:  # whatever NumPy says about a damaged header
            said = " ".join(f"{error}".split())
            raise ReadError(f"{file} is damaged ({said:.80}); write the {what} again") from error
        if array.dtype.kind == "c":
            raise ReadError(f"{file} holds complex numbers; give real ones")
        if array.dtype.kind not in "biuf" or not fits:
            raise ReadError(
                f"{file} is damaged: its header declares {array.shape} of {array.dtype!s:.40}, but other data "
                "follow; write "
                f"the {what} again"
            )
        return np.asarray(array)


_as_json = json.JSONEncoder(ensure_ascii=False).encode  # json.dumps makes one each time, which takes longer
_as_json_lines = json.JSONEncoder(ensure_ascii=False, separators=("\n", ":")).encode
_AT_ONCE = 1 << 14  # strings


def write_strings(file: Path, strings: Sequence[str] | None) -> None:
    """Write a JSON string on each line; None writes no file."""
    if strings is None:
        return
    with open(file, "wb") as handle:
        append_strings(handle, strings)


def append_strings(handle: BinaryIO, strings: Any) -> None:
    """Write a JSON string on each line of an open file; of an array of Arrow at once where none needs an escape."""
    if hasattr(strings, "to_pylist"):
        import pyarrow as pa
        import pyarrow.compute as pc

        if not pc.any(pc.match_substring_regex(strings, r'[\x00-\x1f"\\]')).as_py():
            begin, end, nothing = (pa.scalar(own, strings.type) for own in ('"', '"\n', ""))
            lines = pc.binary_join_element_wise(begin, strings, end, nothing)
            _, offsets, content = lines.buffers()
            starts = np.frombuffer(offsets, np.int64, len(lines) + 1, 8 * lines.offset)
            handle.write(memoryview(content)[int(starts[0]) : int(starts[-1])] if len(lines) else b"")
            return
        strings = strings.to_pylist()
    left = iter(strings)
    while some := list(islice(left, _AT_ONCE)):
        try:
            handle.write(_as_json_lines(some)[1:-1].encode() + b"\n")
        except UnicodeEncodeError:
            handle.writelines(map(json_line, some))


def json_line(string: str) -> bytes:
    """Return a JSON string and the end of its line."""
    try:
        return _as_json(string).encode() + b"\n"
    except UnicodeEncodeError:  # half of a surrogate pair, which no UTF-8 can hold: escaped
        return json.dumps(string).encode() + b"\n"


def read_strings(file: Path, expected: int, what: str, limits: ReadLimits = DEFAULT_LIMITS) -> tuple[str, ...]:
    """Read what `write_strings` wrote."""
    strings: list[str] = []
    number = 0
    with open_binary(file, limits) as handle:
        lines = handle.readlines()
    for number, line in enumerate(lines, start=1):
        if len(line) > limits.document_bytes:
            raise limits.too_long(f"line {number} of {file}")
        try:
            string = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ReadError(f"{file}, line {number} is damaged ({error}); write the {what} again") from error
        if not isinstance(string, str):
            raise ReadError(f"{file}, line {number} is damaged: it does not hold a string; write the {what} again")
        strings.append(string)
        if number > expected:
            break
    if len(strings) != expected:
        found = f"more than {expected} lines" if len(strings) > expected else f"{len(strings)} lines"
        raise ReadError(f"{file} is damaged: {found} instead of {expected}; write the {what} again")
    return tuple(strings)
