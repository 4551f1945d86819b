"""Saved models and checkpoints: a folder of arrays (safetensors) and plain settings (JSON), never pickle.

The folder holds `arrays.safetensors` and `model.json`; the latter gives the version of the format, the kind
of thing that is saved, the arrays that belong to it (with a checksum) and its other values (`meta`, a
vocabulary included). Arrays of a model that are mostly one number, as counts are mostly zero, are stored sparsely.
The file `report.html` may lie beside them.
"""

from __future__ import annotations

import errno
import json
import math
import os
import zlib
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stickbreak.exceptions import InputError, ModelFormatError, WriteError
from stickbreak.storage.atomic import TAKEN, bring_back, follow, replace_file, replace_folder, told_as_write_error
from stickbreak.storage.memory import give_back, memory_installed
from stickbreak.storage.places import PathLike, place_of
from stickbreak.storage.plain_files import open_file, read_json

__all__ = ["FORMAT_VERSION", "MODEL", "check_target", "read_folder", "read_head", "replace_value", "write_folder"]

FORMAT_VERSION = 1
_FORMAT = "stickbreak"
MODEL, _ARRAYS = "model.json", "arrays.safetensors"
_BESIDE = ("report.html",)
_HEAD = {"kind": str, "arrays": dict, "checksum": int, "meta": dict}  # what model.json must hold
_BLOCK = 1 << 20  # numbers that are written, or bytes that are read, at once
_DTYPES = {"bool": "BOOL"} | {
    f"{kind}{bits}": f"{short}{bits}"
    for kind, short in (("int", "I"), ("uint", "U"), ("float", "F"))
    for bits in (8, 16, 32, 64)
    if (kind, bits) != ("float", 8)
}


def write_folder(
    path: PathLike,
    *,
    kind: str,
    arrays: Mapping[str, NDArray],
    meta: Mapping[str, Any],
    overwrite: bool = False,
    sparse: bool = True,
) -> None:
    """Write arrays and plain values as a folder, complete or not at all.

    Parameters
    ----------
    path : str or path-like
        The folder. It must not exist yet, or be empty, or (with `overwrite`) be one that this function
        wrote; the old one stays until the new one is complete. A symbolic link is followed: what it points to is
        written or replaced.
    kind : str
        What is saved, for example "VariationalHDP" or "checkpoint"; `read_folder` asks for it.
    arrays : mapping of str to ndarray
        Arrays of bool, integers or floats, of any shape; dtype and shape are kept.
    meta : mapping of str to value
        Nested dicts (with str keys), lists, str, int, float (also NaN and infinite), bool and None. Tuples
        come back as lists, NumPy scalars as Python's.
    overwrite : bool, default=False
        Replace a folder of ours that is already there.
    sparse : bool, default=True
        Store arrays that are mostly one number by the entries that differ from it, deflated. No bit is lost. Otherwise
        all arrays are stored whole, so that `read_folder` can map all of them.

    Raises
    ------
    InputError
        If an array or a value of `meta` is of a kind that cannot be written.
    WriteError
        If the target is taken, or the system refuses (disk full, no permission).

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "saved"
    >>> write_folder(path, kind="example", arrays={"x": np.arange(3.0)}, meta={"alpha": 0.5})
    >>> arrays, meta = read_folder(path, kind="example")
    >>> arrays["x"], meta
    (array([0., 1., 2.]), {'alpha': 0.5})
    """
    plain = {name: _writable(name, array) for name, array in arrays.items()}
    head: dict[str, Any] = {
        "format": _FORMAT,
        "version": FORMAT_VERSION,
        "kind": kind,
        "stickbreak": package_version(),
        "arrays": {name: {"dtype": a.dtype.name, "shape": list(a.shape)} for name, a in plain.items()},
    }
    for name, array in plain.items() if sparse else ():
        if (small := shrink(array)) is not None:
            plain[name], head["arrays"][name]["common"] = small
    text = _as_json({**head, "meta": dict(meta)})  # refuses what is not plain before anything is written
    check_target(path, overwrite=overwrite)
    with replace_folder(path, overwrite=overwrite or _is_empty_folder(Path(path))) as folder:
        head["checksum"] = _write_arrays(plain, folder / _ARRAYS)
        text = _as_json({**head, "meta": dict(meta)})
        (folder / MODEL).write_text(text, encoding="ascii")


def replace_value(path: PathLike, name: str, value: Mapping[str, Any]) -> None:
    """Write a value of `meta` of a saved folder, completely or not at all; all else stays as it is.

    Parameters
    ----------
    path : path-like
        A folder that `write_folder` wrote.
    name : str
        A key of its `meta`, which need not exist yet.
    value : mapping of str to plain values

    Raises
    ------
    ModelFormatError
        If there is no such folder, or a damaged one.
    WriteError
        If it cannot be written.
    """
    head = read_head(path)
    head["meta"][name] = dict(value)
    with replace_file(Path(path) / MODEL) as temporary:
        temporary.write_text(_as_json(head), encoding="ascii")


def _as_json(head: dict[str, Any]) -> str:
    """Write what model.json holds; NaN and infinite numbers stand in it as Python's json reads them."""
    return json.dumps(head, indent=1, default=_plain) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return dict(value)
    raise InputError(f"meta holds a {type(value).__name__}, which is not a plain value; give arrays in `arrays`")


def read_folder(
    path: PathLike, *, kind: str | None = None, mapped: bool = False
) -> tuple[dict[str, NDArray], dict[str, Any]]:
    """Read what `write_folder` wrote.

    Parameters
    ----------
    path : str or path-like
        The folder.
    kind : str, optional
        What it must hold; by default anything.
    mapped : bool, default=False
        Whether the arrays are views of the file, which are read as they are used, in place of copies. Arrays that are
        stored sparsely are copies all the same.

    Returns
    -------
    arrays : dict of str to ndarray
        Writable arrays of the dtypes and shapes that were given.
    meta : dict
        The plain values.

    Raises
    ------
    ModelFormatError
        If there is no such folder, it is not one of ours, of another kind, written by a newer version, or
        damaged.
    """
    folder = place_of(path)
    while True:
        before = _version_at(folder)
        try:
            found = _read_folder(folder, kind, mapped=mapped)
        except ModelFormatError:
            if _version_at(folder) == before:
                raise
        else:
            if _version_at(folder) == before:
                return found
        # a writer has replaced the folder between model.json and the arrays


def _version_at(path: PathLike) -> tuple[int, int] | None:
    """Return what tells the folder at a path from one that replaces it; None if there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


def _read_folder(folder: Path, kind: str | None, *, mapped: bool) -> tuple[dict[str, NDArray], dict[str, Any]]:
    """Read a folder that nobody replaces at the same time."""
    head = read_head(folder)
    if kind is not None and head["kind"] != kind:
        raise ModelFormatError(f"{folder} holds a {head['kind']}, not a {kind}; give the folder of a {kind}")
    return _read_arrays(folder, head, mapped=mapped), head["meta"]


def read_head(path: PathLike) -> dict[str, Any]:
    """Read what a folder says of itself, without its arrays.

    Parameters
    ----------
    path : str or path-like
        The folder.

    Returns
    -------
    dict
        With "kind", "version", "stickbreak" (the version that wrote it), "arrays" and "meta" (encoded).

    Raises
    ------
    ModelFormatError
        If there is no such folder, it is not one of ours, written by a newer version, or damaged.
    """
    folder = place_of(path)
    bring_back(folder)
    if not folder.is_dir():
        problem = "is a file" if folder.exists() else "does not exist"
        raise ModelFormatError(f"{folder} {problem}; give the folder of a saved model")
    try:
        head = read_json(folder / MODEL)
    except FileNotFoundError:
        raise ModelFormatError(
            f"{folder} is not a saved model: it holds no {MODEL}; give the folder that save or fit wrote"
        ) from None
    except (OSError, ValueError) as error:
        raise ModelFormatError(f"{folder / MODEL} cannot be read ({error}); save the model again") from error
    if not isinstance(head, dict) or head.get("format") != _FORMAT:
        raise ModelFormatError(f"{folder / MODEL} was not written by stickbreak; give the folder of a saved model")
    if not isinstance(head.get("version"), int) or head["version"] > FORMAT_VERSION:
        raise ModelFormatError(
            f"{folder} is of format version {head.get('version')}, but this stickbreak knows versions up to "
            f"{FORMAT_VERSION}; update stickbreak to read it"
        )
    if not _HEAD.keys() <= head.keys():
        raise ModelFormatError(f"{folder / MODEL} is incomplete; save the model again")
    for name, wanted in _HEAD.items():
        if not isinstance(head[name], wanted):
            raise ModelFormatError(
                f"{folder / MODEL} is damaged: its {name!r} is a {type(head[name]).__name__}, not a "
                f"{wanted.__name__}; save the model again"
            )
    return head


def check_target(path: PathLike, *, overwrite: bool = False, advice: str = TAKEN) -> None:
    """Refuse a folder that `write_folder` would refuse; to be asked before a long computation.

    Parameters
    ----------
    path : str or path-like
        Where the folder will be written.
    overwrite : bool, default=False
        Whether a folder of ours may be replaced.
    advice : str, optional
        What to do if the place is taken. Default: how to overwrite it.

    Raises
    ------
    WriteError
        If the place is taken, its parent does not exist or cannot be written to.
    """
    target = place_of(path)
    with told_as_write_error(path):
        found = follow(path)
        while os.path.lexists(found):
            there = _number_of(found)
            try:
                if not _is_empty_folder(found):
                    if not overwrite:
                        raise WriteError(f"{target} already exists. {advice}")
                    _check_replaceable(target)
                break
            except (FileNotFoundError, WriteError):
                if there is not None and _number_of(found) == there:
                    raise  # else another writer has put a new folder in its place meanwhile
        if not found.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(found.parent))
        if not os.access(found.parent, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(found.parent))


def _number_of(path: Path) -> int | None:
    """Return what tells a folder from the one that takes its place; None where there is none."""
    try:
        return os.lstat(path).st_ino
    except OSError:
        return None


def _check_replaceable(target: Path) -> None:
    """Refuse to replace anything but a folder that holds our files alone."""
    try:
        read_head(target)
    except ModelFormatError as error:
        raise WriteError(
            f"{target} already exists and is not a saved model, so it is not overwritten; choose another name"
        ) from error
    names = (entry.name for entry in target.iterdir())
    strangers = sorted(name for name in names if name not in (MODEL, _ARRAYS, *_BESIDE) and not name.endswith(".tmp"))
    if strangers:
        raise WriteError(
            f"{target} also holds {strangers[0]!r}, which would be lost if it were overwritten; move that away first"
        )


def _is_empty_folder(path: Path) -> bool:
    return os.path.isdir(path) and next(path.iterdir(), None) is None


def _writable(name: str, array: NDArray) -> NDArray:
    """Return an array in C order, if it is of a kind that the file can hold."""
    plain = np.asarray(array, order="C")
    if plain.dtype.kind not in "biuf" or plain.dtype.itemsize > 8:
        raise InputError(
            f"array {name!r} is of dtype {plain.dtype}, which cannot be saved; use bool, integers or floats"
        )
    return plain


def _write_arrays(arrays: dict[str, NDArray], file: Path) -> int:
    """Write the file of arrays, as safetensors lays it out; return its checksum (CRC 32).

    Not by safetensors itself: it makes a copy of all arrays, of which some may be views of files larger than memory.
    """
    head, at, checksum = {}, 0, 0
    order = sorted(arrays, key=lambda name: (-arrays[name].dtype.itemsize, name))  # so every array is aligned
    for name in order:
        array = arrays[name]
        places = [at, at + array.nbytes]
        head[name] = {"dtype": _DTYPES[array.dtype.name], "shape": list(array.shape), "data_offsets": places}
        at = places[1]
    text = json.dumps(head, separators=(",", ":")).encode("ascii")
    text += b" " * (-len(text) % 8)
    with open(file, "wb") as handle:
        for block in chain((len(text).to_bytes(8, "little"), text), *(_blocks(arrays[name]) for name in order)):
            handle.write(block)
            checksum = zlib.crc32(block, checksum)
    return checksum


def _blocks(array: NDArray) -> Iterator[Any]:
    """Yield the bytes of an array, least significant first, some at a time."""
    flat = array.reshape(-1)
    for begin in range(0, flat.size, _BLOCK):
        part = flat[begin : begin + _BLOCK]
        yield np.ascontiguousarray(part, dtype=part.dtype.newbyteorder("<")).view(np.uint8).data
    if not array.flags.writeable:  # perhaps a view of a file, of which there may be more than memory
        give_back(array)


def _views(file: Path) -> dict[str, NDArray]:
    """Return views of the arrays of a file: changes stay in memory."""
    with open_file(file) as handle:
        size = int.from_bytes(handle.read(8), "little")
        if size > file.stat().st_size:
            raise ValueError("its head is longer than the file")
        head = json.loads(handle.read(size))
    names, found = {short: name for name, short in _DTYPES.items()}, {}
    for name, of in head.items():
        if name != "__metadata__":
            dtype, shape, (begin, end) = names[of["dtype"]], tuple(of["shape"]), of["data_offsets"]
            view = np.memmap(file, dtype, "c", 8 + size + begin, shape) if end > begin else np.empty(shape, dtype)
            found[name] = np.asarray(view)
    return found


def _read_arrays(folder: Path, head: dict[str, Any], *, mapped: bool) -> dict[str, NDArray]:
    """Read the arrays and compare them with what `model.json` says of them."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    # A KeyError is a dtype that NumPy lacks.
    unreadable = OSError, SafetensorError, ValueError, TypeError, KeyError, OverflowError, zlib.error
    file, described = folder / _ARRAYS, head["arrays"]
    try:
        intact = _checksum(file) == head["checksum"]
        read = _views if mapped else load_file
        found = read(file) if intact else {}
    except FileNotFoundError:
        raise ModelFormatError(f"{folder} holds no {_ARRAYS}; save the model again") from None
    except unreadable as error:
        raise ModelFormatError(f"{file} cannot be read ({error}); save the model again") from error
    if not intact:
        raise ModelFormatError(
            f"{file} is damaged: its content is not what was written; copy it again or save the model again"
        )
    try:
        sparse = {name: expand(found[name], one) for name, one in described.items() if "common" in one}
    except unreadable as error:
        raise ModelFormatError(f"{file} cannot be read ({error}); save the model again") from error
    found = {**found, **sparse}
    present = {
        name: {"dtype": a.dtype.name, "shape": list(a.shape)}
        | ({"common": described[name]["common"]} if name in sparse else {})
        for name, a in found.items()
    }
    if present != described:
        raise ModelFormatError(f"{file} does not hold the arrays that {MODEL} names; save the model again")
    return found


def _checksum(file: Path) -> int:
    value = 0
    with open_file(file) as handle:
        while block := handle.read(_BLOCK):
            value = zlib.crc32(block, value)
    return value


def package_version() -> str:
    """Return the version of the installed package."""
    try:
        return version("stickbreak")
    except PackageNotFoundError:
        return "unknown"


_LEAST_BYTES = 1 << 16  # smaller arrays are not worth it
_LARGEST_SHARE = 0.5  # of the entries may differ
_SAMPLE = 1001  # entries that say which number is the common one


def shrink(array: NDArray[Any]) -> tuple[NDArray[np.uint8], int] | None:
    """Return an array as deflated bytes, with the bits of its most common number; None where few entries are alike.

    The bytes are a bit for each entry, which says whether it differs from that number, and the entries that do. Nothing
    is rounded: `expand` returns the same bits.

    Parameters
    ----------
    array : ndarray
        In C order.
    """
    if array.nbytes < _LEAST_BYTES:
        return None
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    # As bits, -0.0 differs from 0.0 and NaN equals itself.
    bits = little.reshape(-1).view(f"<u{array.dtype.itemsize}")
    sample = np.sort(bits[np.random.default_rng(0).integers(bits.size, size=_SAMPLE)])
    common = sample[sample.size // 2]
    differ = bits != common
    if not array.flags.writeable:  # perhaps a view of a file
        give_back(array)
    if np.count_nonzero(differ) > _LARGEST_SHARE * bits.size:
        return None
    packer = zlib.compressobj()
    content = packer.compress(np.packbits(differ).data) + packer.compress(bits[differ].data) + packer.flush()
    return np.frombuffer(content, np.uint8), int(common)


def expand(content: NDArray[np.uint8], description: Mapping[str, Any]) -> NDArray[Any]:
    """Return the array that `shrink` took apart.

    Parameters
    ----------
    content : ndarray of uint8
    description : mapping
        Its "dtype", "shape" and "common", the bits of its most common number.

    Raises
    ------
    ValueError, TypeError, KeyError, OverflowError, zlib.error
        If there cannot be such an array, or it is larger than the memory of this machine.
    """
    dtype, shape = np.dtype(description["dtype"]), tuple(description["shape"])
    size = math.prod(shape)
    if not 0 <= size * dtype.itemsize <= memory_installed():
        raise ValueError(f"an array of shape {shape} does not fit into the memory of this machine")
    unsigned = np.dtype(f"<u{dtype.itemsize}")
    unpacker = zlib.decompressobj()
    # max_length of decompress: a short content cannot unpack to more than the shape needs.
    mask = unpacker.decompress(content.tobytes(), max_length=-(-size // 8))
    differ = np.unpackbits(np.frombuffer(mask, np.uint8), count=size).view(np.bool_)
    length = int(np.count_nonzero(differ)) * unsigned.itemsize
    values = unpacker.decompress(unpacker.unconsumed_tail, max_length=length + 1)
    if len(values) != length:
        raise ValueError("a sparse array does not have as many entries as it says")
    common = int(description["common"])
    bits = np.full(size, common, unsigned) if common else np.zeros(size, unsigned)
    bits[differ] = np.frombuffer(values, unsigned)
    return bits.astype(unsigned.newbyteorder("="), copy=False).view(dtype).reshape(shape)
