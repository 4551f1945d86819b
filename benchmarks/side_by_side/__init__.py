"""Our families and their peers side by side: quality, and the cost of a pass."""
