"""Benchmarks of collapsed inference."""
