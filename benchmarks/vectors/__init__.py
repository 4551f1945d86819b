"""Benchmarks of the Gaussian families, on image patches."""
