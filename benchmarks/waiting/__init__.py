"""What a user waits for besides the passes of a fit: compiling, loading, single requests."""
