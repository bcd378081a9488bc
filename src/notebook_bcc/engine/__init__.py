"""Decide, perform, reduce: the only moving part."""
