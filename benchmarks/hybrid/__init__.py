"""Benchmarks of the hybrid."""
