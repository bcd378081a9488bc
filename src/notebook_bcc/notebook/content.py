"""The content of a notebook as servers send it: whether two are the same, and whether there is anything in it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from notebook_bcc.protocol.plain import canonical_bytes

# Servers and editors add it to a cell, and take it away again, without anybody's doing.
_TRUSTED = "trusted"


def content_digest(content: Mapping[str, Any]) -> str:  # Any: JSON
    """The same for two contents that a reader could not tell apart, however their files are laid out."""
    cells = [_plain_cell(cell) for cell in _cells(content)]
    return hashlib.sha256(canonical_bytes({**content, "cells": cells}) or b"").hexdigest()


def is_blank(content: Mapping[str, Any]) -> bool:  # Any: JSON
    """Whether nobody has written anything into any cell."""
    return not any("".join(cell.get("source") or "").strip() or cell.get("outputs") for cell in _cells(content))


def _cells(content: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    cells = content.get("cells")
    return [cell for cell in cells if isinstance(cell, Mapping)] if isinstance(cells, list) else []


def _plain_cell(cell: Mapping[str, Any]) -> dict[str, Any]:
    metadata = cell.get("metadata")
    kept = {name: value for name, value in metadata.items() if name != _TRUSTED} if isinstance(metadata, dict) else {}
    return {**cell, "metadata": kept}
