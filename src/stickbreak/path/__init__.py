"""Fitted topics joined pair by pair, down to one: every number of topics of one fit (docs/math (J1) to (J4))."""
