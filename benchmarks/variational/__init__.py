"""Benchmarks of the variational family."""
