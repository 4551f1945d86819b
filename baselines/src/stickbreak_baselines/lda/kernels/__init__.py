"""Compiled loops of LDA."""
