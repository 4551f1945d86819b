"""Files: complete or absent, never pickled; paths, and how much memory there is."""
