"""Benchmarks of LDA."""
