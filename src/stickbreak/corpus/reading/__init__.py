"""Readers of files: formats, encodings, limits."""
