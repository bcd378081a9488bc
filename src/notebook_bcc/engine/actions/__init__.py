"""Carries actions out."""
