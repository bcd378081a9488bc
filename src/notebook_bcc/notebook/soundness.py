"""Tell a sound notebook of today's format at a glance, without loading nbformat.

nbformat validates with jsonschema, whose import takes seconds where its optional formats are installed. A file that we
wrote, or Jupyter did, passes this look; whatever does not is left to nbformat, which converts it or says what is wrong.
"""

from __future__ import annotations

from typing import Any

import orjson

from notebook_bcc.protocol.cells import CELL_ID

_JSON = dict[str, Any]
_REQUIRED: dict[str, tuple[str, ...]] = {
    "stream": ("name", "text"),
    "display_data": ("data", "metadata"),
    "execute_result": ("data", "metadata", "execution_count"),
    "error": ("ename", "evalue", "traceback"),
}


def sound_content(data: bytes) -> _JSON | None:
    """The decoded notebook with its lines joined, if it is plainly one of format 4.5; else None."""
    try:
        content = orjson.loads(data)
    except ValueError:
        return None
    if not isinstance(content, dict) or content.get("nbformat") != 4 or content.get("nbformat_minor") != 5:
        return None
    cells = content.get("cells")
    if not isinstance(content.get("metadata"), dict) or not isinstance(cells, list):
        return None
    if not all(_joined_cell(cell) for cell in cells) or len({cell["id"] for cell in cells}) != len(cells):
        return None
    return content


def _is_count(value: object) -> bool:
    return value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 0)


def _joined_cell(cell: Any) -> bool:  # Any: decoded JSON
    """Whether it is a sound cell; its source and outputs are joined in place."""
    if not isinstance(cell, dict) or not isinstance(cell.get("metadata"), dict) or not _joined(cell, "source"):
        return False
    if not isinstance(cell.get("id"), str) or not CELL_ID.fullmatch(cell["id"]):
        return False
    if cell.get("cell_type") in ("markdown", "raw"):
        return "outputs" not in cell and "execution_count" not in cell
    outputs = cell.get("outputs")
    return (
        cell.get("cell_type") == "code"
        and isinstance(outputs, list)
        and "execution_count" in cell
        and _is_count(cell["execution_count"])
        and all(_joined_output(output) for output in outputs)
    )


def _joined_output(output: Any) -> bool:  # Any: decoded JSON
    if not isinstance(output, dict):
        return False
    required = _REQUIRED.get(str(output.get("output_type")))
    if required is None or set(output) != {"output_type", *required}:
        return False
    if output["output_type"] == "stream":
        return isinstance(output["name"], str) and _joined(output, "text")
    if output["output_type"] == "error":
        lines = output["traceback"]
        return isinstance(lines, list) and all(isinstance(line, str) for line in [*lines, *_words(output)])
    if not isinstance(output["data"], dict) or not isinstance(output["metadata"], dict):
        return False
    if not _is_count(output.get("execution_count")):
        return False
    bundle = output["data"]
    return all(_is_json(mime) or _joined(bundle, mime) for mime in bundle)


def _words(output: _JSON) -> list[Any]:
    return [output["ename"], output["evalue"]]


def _is_json(mime: str) -> bool:
    return mime == "application/json" or (mime.startswith("application/") and mime.endswith("+json"))


def _joined(holder: _JSON, key: str) -> bool:
    value = holder.get(key)
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        holder[key] = "".join(value)
        return True
    return isinstance(value, str)
