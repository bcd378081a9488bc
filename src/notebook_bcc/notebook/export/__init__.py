"""Notebooks as HTML, Markdown, script and PDF."""
