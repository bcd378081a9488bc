"""What a model is told."""
