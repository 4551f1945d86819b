"""Sparse backoff trees: topics are the leaves of a tree, up to millions of them."""
