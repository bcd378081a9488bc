"""What a person is told of a run: pure readers of records."""
