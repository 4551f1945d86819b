"""Compiled loops of the merges."""
