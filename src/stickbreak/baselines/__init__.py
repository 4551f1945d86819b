"""Systems that others compare with, each a family of its own behind the same face."""
