"""What fitted topics say of documents: weights, completion, left-to-right likelihood."""
