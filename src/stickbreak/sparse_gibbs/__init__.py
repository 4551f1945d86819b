"""Gibbs sampling with a fixed number of topics, word by word and sparse: what LDA is made of, and some starts."""
