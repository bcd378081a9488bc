"""What a planner sees of a run."""
