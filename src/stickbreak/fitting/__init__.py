"""How a fit runs: laps, checkpoints, the engine, progress, and what it asks of its input."""
