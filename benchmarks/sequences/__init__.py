"""Models of sequences beside others."""
