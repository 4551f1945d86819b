"""Measurements of the default."""
