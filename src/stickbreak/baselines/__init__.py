"""Other systems behind the same interface, to compare with."""
