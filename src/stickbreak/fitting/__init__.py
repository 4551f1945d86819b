"""How a fit runs: laps, checkpoints, executors, progress, and what it asks of its input."""
