"""Compiled kernels; their slow twins are in `tests/`."""
