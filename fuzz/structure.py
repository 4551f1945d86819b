"""Changes by chance of what has a structure: arrays, .npy, .npz, JSON trees, Parquet, Matrix Market, safetensors."""

from __future__ import annotations

import ast
import io
import json
import re
import struct
import zipfile
from collections.abc import Sequence
from functools import cache
from random import Random
from typing import Any

import numpy as np

from fuzz.mutations import TOKENS, mutate_bytes, mutate_text, zip_bomb

Tree = Any

_FLOATS = (0.0, -0.0, -1.0, 1.0, 0.5, 7.0, np.nan, np.inf, -np.inf, 1e308, -1e308, 1e-320, 5e-324, 1e38, 1e20, 1e16)
_DTYPES = ("f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u1", "?", ">f8", ">i4", "c16", "S3", "U3", "M8[s]")
_SIZES = (0, 1, 2, 3, 5, 7, 10**6, 2**31 - 1, 2**31, 2**32, 2 * 10**9, 10**12, 2**62, 2**63 - 1, 2**63, 2**64, -1, -4)
_VALUES = (
    None, True, False, 0, -1, 1, 2, 7, 2**31, 2**63, 10**30, -1.5, 0.5, 1e308, 1e-320, "x", "", "\x1b[31m", "nan",
    "a" * 3000, [], {}, [1], [[]], [[[]]], [None], {"": None}, {"$float": "nan"}, {"$float": "inf"}, {"$float": "x"},
    {"$float": "-inf"}, {"$float": None}, {"$float": [1]}, {"$dict": []}, {"$dict": [[1]]}, {"$dict": [[[], 1]]},
    {"$dict": 3}, "../../etc/passwd", "os.system", "__class__",
)  # fmt: skip


# --- arrays ---------------------------------------------------------------------------------------------------------


def extreme(random: Random, dtype: np.dtype) -> Any:
    """Return a value at an end of what a dtype holds, or near to zero."""
    if dtype.kind in "iu":
        ends = np.iinfo(dtype)
        return random.choice((0, 1, 2, 3, 100, ends.min, ends.max, ends.max - 1, -1 if dtype.kind == "i" else 4))
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            return np.array(random.choice(_FLOATS)).astype(dtype)
    return random.random() < 0.5


def mutate_array(random: Random, array: np.ndarray) -> np.ndarray:
    """Change one number of an array, or some, or its dtype, shape or order."""
    change = random.randrange(12)
    with np.errstate(all="ignore"):
        if change <= 5 and array.size and array.dtype.kind in "biuf":
            array = array.copy()
            for _ in range(random.choice((1, 1, 1, 2, 4))):
                array.flat[random.randrange(array.size)] = extreme(random, array.dtype)
        elif change == 6 and array.size and array.dtype.kind in "biuf":
            array = np.full_like(array, extreme(random, array.dtype))
        elif change == 7 and array.dtype.kind in "biuf":
            array = array.astype(random.choice(_DTYPES[:11] if random.random() < 0.8 else _DTYPES[11:15]))
        elif change == 8 and array.ndim:
            array = array[: random.randrange(len(array) + 1)]
        elif change == 9 and array.ndim:
            array = np.concatenate([array, array[: random.randrange(len(array) + 1)]])
        elif change == 10:
            array = random.choice((array.reshape(-1), array[None], array.T, array[..., None]))
        elif array.size and array.ndim:
            array = array[list(random.sample(range(len(array)), len(array)))]
    return array


def mutate_npy(random: Random, content: bytes) -> bytes:
    """Change a .npy file: its numbers, its header or its bytes."""
    choice = random.random()
    if choice < 0.45:
        try:
            array = mutate_array(random, np.load(io.BytesIO(content), allow_pickle=False))
            return npy(array, fortran=random.random() < 0.05)
        except (ValueError, OverflowError, EOFError):
            return mutate_bytes(random, content)
    if choice < 0.8:
        return _mutate_npy_header(random, content)
    return mutate_bytes(random, content)


def npy(array: np.ndarray, fortran: bool = False) -> bytes:
    """Return the .npy file of an array."""
    file = io.BytesIO()
    np.save(file, np.asfortranarray(array) if fortran else array, allow_pickle=False)
    return file.getvalue()


def _mutate_npy_header(random: Random, content: bytes) -> bytes:
    if len(content) < 12:
        return mutate_bytes(random, content)
    (length,) = struct.unpack("<H", content[8:10])
    text, data = content[10 : 10 + length].decode("latin1"), content[10 + length :]
    try:
        header = dict(ast.literal_eval(text))
        shape = list(header["shape"])
    except (ValueError, SyntaxError, TypeError, KeyError, MemoryError):  # changed before
        return mutate_bytes(random, content)
    change = random.randrange(8)
    if change <= 2:
        if shape and random.random() < 0.7:
            shape[random.randrange(len(shape))] = random.choice(_SIZES)
        else:
            shape.insert(0, random.choice(_SIZES))
        header["shape"] = tuple(shape)
    elif change == 3:
        strange = ("|O", "O8", "<f8,<i4", "<M8[ns]", "|V8", "<U99999999", "", "x", "<f16", "|S0", "<c16")
        header["descr"] = random.choice((*_DTYPES, *strange, [("a", "<f8")], 3, None, ("<f8", (10**9,))))
    elif change == 4:
        header["fortran_order"] = random.choice((True, False, 1, None, "x"))
    elif change == 5:
        header.pop(random.choice(list(header)))
    elif change == 6:
        return content[:10] + mutate_text(random, text.encode("latin1"))[:length].ljust(length) + data
    else:
        version = random.choice(((1, 0), (2, 0), (3, 0), (4, 0), (0, 0), (255, 255)))
        return content[:6] + bytes(version) + content[8:]
    new = repr(header).encode("latin1", "replace")
    if random.random() < 0.02:
        new += b" " * 70_000
    new += b" " * (-(len(new) + 11) % 64) + b"\n"
    return content[:8] + struct.pack("<H", min(len(new), 65535)) + new + data


# --- zip files ------------------------------------------------------------------------------------------------------


@cache
def members(content: bytes) -> dict[str, bytes]:
    """Return what a zip file holds."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(files: Sequence[tuple[str, bytes]], compressed: bool = False) -> bytes:
    """Return a zip file."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED) as archive:
        for name, content in files:
            archive.writestr(zipfile.ZipInfo(name), content, archive.compression, 1)
    return file.getvalue()


def mutate_npz(random: Random, content: bytes, others: Sequence[bytes] = ()) -> bytes:
    """Change a member of an .npz file, the set of its members, or its bytes; `others` lend members."""
    if random.random() < 0.2:
        return mutate_bytes(random, content, others)
    files = dict(members(content))
    for name in random.sample(list(files), min(len(files), random.choice((1, 1, 1, 2, 3)))):
        change = random.random()
        if change < 0.75:
            files[name] = mutate_npy(random, files[name])
        elif change < 0.8:
            files.pop(name)
        elif change < 0.9 and others:
            lent = members(random.choice(others))
            files[name] = lent.get(name, next(iter(lent.values())))
        elif change < 0.95:
            files[mutate_text(random, name.encode()).decode("latin1")[:100]] = files.pop(name)
        else:
            files["format.npy"] = npy(np.array(random.choice((b"csr", b"csc", b"coo", b"bsr", b"dia", b"lil", b"", 3))))
    pairs = list(files.items())
    if random.random() < 0.02 and pairs:
        pairs.append(random.choice(pairs))
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a name that is there twice
        new = zipped(pairs, random.random() < 0.3)
    return _explosive(new) if random.random() < 0.0002 else new


def _explosive(content: bytes) -> bytes:
    """Put a member of 1 GiB of zeros into a small zip file, in place of its data."""
    stream, checksum, size = zip_bomb()
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, part in members(content).items():
            if name != "data.npy":
                archive.writestr(name, part)
        archive.writestr("data.npy", b"")
        start = archive.start_dir
        info = archive.filelist[-1]
        info.compress_type, info.compress_size, info.file_size, info.CRC = 8, len(stream), size, checksum
        assert archive.fp is not None
        archive.fp.seek(info.header_offset)
        archive.fp.write(info.FileHeader(False) + stream)
        archive.start_dir = max(archive.fp.tell(), start)
    return file.getvalue()


# --- JSON -----------------------------------------------------------------------------------------------------------


def mutate_tree(random: Random, tree: Tree, times: int = 1) -> Tree:
    """Return a tree of dicts and lists with a value changed, removed, doubled, wrapped or moved (a copy)."""
    tree = json.loads(json.dumps(tree))
    for _ in range(times):
        paths = list(_paths(tree))
        if not paths:
            return random.choice(_VALUES)
        *way, last = random.choice(paths)
        parent = tree
        for key in way:
            parent = parent[key]
        change = random.random()
        if change < 0.6:
            parent[last] = _other_value(random, parent[last])
        elif change < 0.75:
            del parent[last]
        elif change < 0.8 and isinstance(parent, list):
            parent.insert(last, parent[last])
        elif change < 0.85:
            parent[last] = [parent[last]]
        elif change < 0.9:
            parent[last] = {"x": parent[last]}
        elif change < 0.95 and isinstance(parent, dict):
            parent[random.choice(("", "x", "\x00", "$float", "$dict", last + "_"))] = parent.pop(last)
        else:
            *where, end = random.choice(paths)
            lent = tree
            for key in (*where, end):
                lent = lent[key] if _holds(lent, key) else None
            parent[last] = json.loads(json.dumps(lent))
    return tree


def _holds(tree: Tree, key: Any) -> bool:
    return (
        key in tree if isinstance(tree, dict) else isinstance(tree, list) and isinstance(key, int) and key < len(tree)
    )


def _other_value(random: Random, value: Any) -> Any:
    if isinstance(value, int | float) and not isinstance(value, bool) and random.random() < 0.5:
        return random.choice((value + 1, value - 1, -value, value * 10, value * 1e300, 0, 1, 1e-300))
    return json.loads(json.dumps(random.choice(_VALUES)))


def _paths(tree: Tree, way: tuple = ()) -> Any:
    if way:
        yield way
    if isinstance(tree, dict):
        for key in tree:
            yield from _paths(tree[key], (*way, key))
    elif isinstance(tree, list):
        for position in range(min(len(tree), 4)):
            yield from _paths(tree[position], (*way, position))


def mutate_json(random: Random, content: bytes) -> bytes:
    """Change a JSON file: its tree, or its text."""
    if random.random() < 0.4:
        return mutate_text(random, content)
    try:
        tree = mutate_tree(random, json.loads(content), random.choice((1, 1, 2, 4)))
        return json.dumps(tree).encode()
    except (ValueError, RecursionError):
        return mutate_text(random, content)


def mutate_json_lines(random: Random, content: bytes) -> bytes:
    """Change JSON lines: the tree of one, or the text of all."""
    if random.random() < 0.5:
        return mutate_text(random, content)
    lines = content.splitlines()
    if lines:
        at = random.randrange(len(lines))
        lines[at] = mutate_json(random, lines[at])
    return b"\n".join(lines) + b"\n"


# --- Parquet, Matrix Market, safetensors ----------------------------------------------------------------------------


def mutate_parquet(random: Random, content: bytes) -> bytes:
    """Change a Parquet file: a byte or number of its footer, the length of that, a page, or any bytes."""
    (length,) = struct.unpack("<I", content[-8:-4])
    footer = len(content) - 8 - length
    choice = random.random()
    if choice < 0.5:
        return content[:footer] + _same_length(random, content[footer:-8]) + content[-8:]
    if choice < 0.6:
        new = mutate_bytes(random, content[footer:-8])
        return content[:footer] + new + struct.pack("<I", len(new)) + content[-4:]
    if choice < 0.65:
        wrong = random.choice((0, 1, length - 1, length + 1, len(content), 2**31 - 1, 2**32 - 1))
        return content[:-8] + struct.pack("<I", wrong) + content[-4:]
    if choice < 0.9:
        return content[:4] + _same_length(random, content[4:footer]) + content[footer:]
    return mutate_bytes(random, content)


def _same_length(random: Random, content: bytes) -> bytes:
    changed = bytearray(content)
    for _ in range(random.choice((1, 1, 2, 4))):
        at = random.randrange(len(changed))
        bits = random.random() < 0.5
        changed[at] = changed[at] ^ (1 << random.randrange(8)) if bits else random.choice((0, 1, 127, 128, 255, 12, 25))
    return bytes(changed)


_BANNER = re.compile(rb"%%MatrixMarket[^\n]*\n")
_FIELDS = (
    (b"matrix", b"vector", b"Matrix", b""),
    (b"coordinate", b"array", b"", b"COORDINATE"),
    (b"real", b"integer", b"pattern", b"complex", b"unsigned-integer", b"double", b""),
    (b"general", b"symmetric", b"skew-symmetric", b"hermitian", b""),
)


def mutate_matrix_market(random: Random, content: bytes) -> bytes:
    """Change a Matrix Market file: words of its banner, numbers of its size line, or its text."""
    choice = random.random()
    lines = content.split(b"\n")
    sizes = next((at for at, line in enumerate(lines) if line and not line.startswith(b"%")), None)
    if choice < 0.3:
        banner = b" ".join((b"%%MatrixMarket", *(random.choice(words) for words in _FIELDS)))
        content = _BANNER.sub(banner + b"\n", content, count=1)
    elif choice < 0.55 and sizes is not None:
        numbers = lines[sizes].split() or [b"1"]
        at = random.randrange(len(numbers))
        numbers[at] = random.choice(TOKENS[:38]) if random.random() < 0.8 else b"%d" % random.randrange(9)
        if random.random() < 0.2:
            numbers = numbers[: random.randrange(4)] if random.random() < 0.5 else [*numbers, b"3"]
        lines[sizes] = b" ".join(numbers)
        content = b"\n".join(lines)
    if choice > 0.5 or random.random() < 0.4:
        content = mutate_text(random, content)
    return content


def mutate_safetensors(random: Random, content: bytes) -> bytes:
    """Change a safetensors file: the tree of its header (with its length), that length, or its bytes."""
    (length,) = struct.unpack("<Q", content[:8])
    choice = random.random()
    if choice < 0.5:
        tree = mutate_tree(random, json.loads(content[8 : 8 + length]))
        header = json.dumps(tree).encode()
        return struct.pack("<Q", len(header)) + header + content[8 + length :]
    if choice < 0.6:
        wrong = random.choice((0, 1, length - 1, length + 1, len(content), 10**8, 2**31, 2**63, 2**64 - 1))
        return struct.pack("<Q", wrong) + content[8:]
    return mutate_bytes(random, content)
