"""Kernels of a Jupyter Server or gateway."""
