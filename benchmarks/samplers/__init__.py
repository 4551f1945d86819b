"""Benchmarks of the samplers."""
