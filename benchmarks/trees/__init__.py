"""Benchmarks of the backoff trees."""
