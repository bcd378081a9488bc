"""Addresses as they may be kept and shown."""

from __future__ import annotations

from urllib.parse import urlsplit


def without_credentials(address: str) -> str:
    """The address without user name, password, query and fragment: each of them may hold a secret."""
    parts = urlsplit(address)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}".rstrip("/")
