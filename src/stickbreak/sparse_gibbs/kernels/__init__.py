"""Compiled loops of sparse Gibbs sampling."""
