"""Variational inference of words."""
