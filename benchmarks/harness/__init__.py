"""What the benchmarks share: corpora, systems, scores, records of runs, tables, and the pages that they write."""
