"""Compiled loops of the nested Chinese restaurant process."""
