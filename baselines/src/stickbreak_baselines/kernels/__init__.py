"""Compiled loops that several baselines share."""
