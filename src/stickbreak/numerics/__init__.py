"""Numbers: special functions, Stirling numbers, random streams, ranges, compiled kernels."""
