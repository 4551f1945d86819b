"""Whole arrays inside kernels, element by element.

Numba compiles `out[:] = source` with a check of shapes, and with that the making of a text for its error: two seconds,
for the first kernel of each process that says so. A loop takes a twentieth of one.
"""

from __future__ import annotations

from stickbreak.numerics.compiling import njit


@njit(cache=True, nogil=True, error_model="numpy")
def copy(source, out):
    """out[k] = source[k]; `source` is at least as long."""
    for k in range(out.size):
        out[k] = source[k]


@njit(cache=True, nogil=True, error_model="numpy")
def add(first, second, out):
    """out[k] = first[k] + second[k]; both are at least as long."""
    for k in range(out.size):
        out[k] = first[k] + second[k]
