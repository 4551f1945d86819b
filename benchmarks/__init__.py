"""Where every number of the documentation comes from: `python -m benchmarks --help`."""
