"""A script for each table and figure of the papers that the library follows: `python -m examples.papers.NAME`."""
