"""Planners behind HTTP."""
