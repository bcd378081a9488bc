"""Templates whose values cannot become code."""
