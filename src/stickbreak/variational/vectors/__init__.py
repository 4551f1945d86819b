"""Variational inference of real vectors: the HDP of groups, the DP mixture."""
