"""Planners that follow a script."""
