"""The truth about a run: what happened, in order, append only."""
