"""The baselines beside the systems that they are compared with."""
