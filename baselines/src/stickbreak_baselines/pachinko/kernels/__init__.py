"""Compiled loops of Pachinko allocation."""
