"""What a model's cells and texts may not do or claim."""
