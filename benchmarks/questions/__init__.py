"""Measurements of the questions to a model on planted data."""
