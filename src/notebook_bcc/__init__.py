"""Notebook-BCC: data-science workflows carried out step by step in a real Jupyter notebook."""

__version__ = "0.1.0"
