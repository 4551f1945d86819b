"""Arrays that are mostly one number, as a file holds them: which entries differ from it, and what these are."""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stickbreak.storage.memory import give_back, memory_installed

__all__ = ["expand", "shrink"]

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
