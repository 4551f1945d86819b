"""Documents to try things on: generated ones, and the docstrings of the standard library."""
