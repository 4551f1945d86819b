"""What a reader asks of fitted topics: over time, by category, words, documents, likeness (math.md (Q1) to (Q8))."""
