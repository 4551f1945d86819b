"""What every family shares: the loop, the fitted surface, random streams, executors, document completion."""
