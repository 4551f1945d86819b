"""Kernels that are called for every pair or token count no references to arrays: that takes locked instructions."""

import numba
import pytest
from numba import types

from stickbreak.collapsed.kernels import draws, shares

FLOAT, UINT = types.float64, types.uint64
FLOATS, TOPICS, SHARES = types.float64[::1], types.uint16[::1], types.float32[::1]
KERNELS = {
    shares._weigh: (types.float64[:, ::1], UINT, FLOAT, FLOATS, FLOATS),
    shares._chunk_sums: (FLOATS, FLOATS),
    shares._keep: (FLOATS, FLOATS, FLOAT, FLOAT, FLOAT, TOPICS, FLOATS),
    shares._write: (TOPICS, FLOATS, UINT, TOPICS, SHARES, UINT),
    draws._of_document: (FLOAT, UINT, UINT, TOPICS, FLOATS),
    draws._of_all: (FLOAT, UINT, FLOAT, FLOAT, FLOATS, FLOATS, FLOATS),
    draws._move: (UINT, UINT, TOPICS, FLOATS, UINT, UINT, FLOAT),
}


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_a_kernel_in_an_inner_loop_counts_no_references(kernel):
    again = numba.jit(**kernel.targetoptions)(kernel.py_func)  # of a cached one Numba shows nothing
    again.compile(KERNELS[kernel])
    assert "call void @NRT_incref" not in again.inspect_llvm(KERNELS[kernel])
