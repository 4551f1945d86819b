"""Large collections: texts to counts, fits of millions of documents, a planted collection of a newspaper's size."""
