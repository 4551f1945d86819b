"""Compiled loops over tokens that are held out."""
