"""What a fitted model is: the face of every family, and what is saved of it."""
