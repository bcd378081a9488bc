"""Did a cell do the same again? Two lists of outputs compared, apart from what differs between any two executions.

Text is compared exactly, after memory addresses, durations, ids made for one execution and the working directory have
been replaced by placeholders. Pictures are compared by type and size: pixels may differ between machines.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from notebook_bcc.protocol.cells import Output

# Each pattern stands for something that two executions of the same code do not share.
_PLACEHOLDERS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\x1b\[[0-9;]*m"), ""),
    (re.compile(r"\b0x[0-9a-fA-F]{6,16}\b"), "<address>"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "<uuid>"),
    (re.compile(r"\S*/ipykernel_\d+/\d+\.py"), "<cell>"),
    (re.compile(r"\bobject id \d+|\bid=\d{9,}"), "<id>"),
    # Progress bars: elapsed<left, rate.
    (re.compile(r"\[\d+:\d\d(?::\d\d)?<[^\]]*\]"), "<rate>"),
    (re.compile(r"\b\d+(?:\.\d+)?(?:e[+-]?\d+)?\s?(?:ns|[µμu]s|ms|s|secs?|seconds?|mins?|minutes?)\b"), "<time>"),
    (re.compile(r"\b(?:it|s)/(?:s|it)\b"), "<rate>"),
)
# Ids that libraries number or draw for one page: pandas' styled tables, scikit-learn's diagrams, plots.
_HTML_IDS = re.compile(r"\bT_[0-9a-f]{5,}|\bsk-[a-z-]*id-\d+|\b(?:id|for|data-root-id)=\"[^\"]*\"")
_SHOWN = 200


def differences(recorded: Sequence[Output], now: Sequence[Output], *, folders: Iterable[str] = ()) -> list[str]:
    """What differs, one sentence each; empty when the outputs are the same. `folders` are working directories."""
    found: list[str] = []
    places = [folder for folder in folders if folder]
    for stream in ("stdout", "stderr"):
        before, after = (normalized(_stream(outputs, stream), folders=places) for outputs in (recorded, now))
        if before != after:
            found.append(f"{stream} differs: {_first_difference(before, after)}")
    found += _error_differences(_of_kind(recorded, "error"), _of_kind(now, "error"))
    shown_before, shown_after = (_of_kind(outputs, "display_data", "execute_result") for outputs in (recorded, now))
    if len(shown_before) != len(shown_after):
        found.append(f"{len(shown_before)} displayed results were recorded, now there are {len(shown_after)}")
        return found
    for number, (before_output, after_output) in enumerate(zip(shown_before, shown_after, strict=True), 1):
        found += _bundle_differences(number, before_output, after_output, places)
    return found


def normalized(text: str, *, folders: Iterable[str] = ()) -> str:
    """The text with placeholders for what differs between any two executions."""
    for folder in folders:
        text = text.replace(folder, "<work>")
    for pattern, placeholder in _PLACEHOLDERS:
        text = pattern.sub(placeholder, text)
    return text


def _stream(outputs: Sequence[Output], name: str) -> str:
    # How a stream is cut into pieces, and where the two streams meet, depends on timing.
    return "".join(
        _text(output.get("text", "")) for output in _of_kind(outputs, "stream") if output.get("name") == name
    )


def _of_kind(outputs: Sequence[Output], *kinds: str) -> list[Output]:
    return [output for output in outputs if output.get("output_type") in kinds]


def _error_differences(recorded: Sequence[Output], now: Sequence[Output]) -> list[str]:
    before, after = ([str(output.get("ename", "")) for output in outputs] for outputs in (recorded, now))
    if before == after:
        return []
    if not before:
        raised = now[0]
        return [f"it now raises {raised.get('ename')}: {_cut(normalized(str(raised.get('evalue', ''))))}"]
    return [f"it raised {', '.join(before)}, now {', '.join(after) or 'nothing'}"]


def _bundle_differences(number: int, recorded: Output, now: Output, folders: Sequence[str]) -> list[str]:
    before, after = recorded.get("data", {}), now.get("data", {})
    if set(before) != set(after):
        return [f"result {number} had the types {_types(before)}, now {_types(after)}"]
    found = []
    for mime in sorted(before):
        old, new = (_comparable(mime, bundle[mime], folders) for bundle in (before, after))
        if old != new:
            found.append(f"result {number} ({mime}) differs: {_first_difference(old, new)}")
    return found


def _comparable(mime: str, value: Any, folders: Sequence[str]) -> str:  # Any: what a kernel put into the bundle
    if mime == "image/svg+xml":
        return mime
    if mime.startswith("image/"):
        return f"{mime} {_picture_size(_text(value))}"
    if mime == "application/json" or mime.endswith("+json"):
        return normalized(json.dumps(value, sort_keys=True, ensure_ascii=False), folders=folders)
    text = normalized(_text(value), folders=folders)
    return _HTML_IDS.sub("<id>", text) if mime == "text/html" else text


def _picture_size(encoded: str) -> str:
    """Width and height of a PNG; other formats have none here, and their type is enough."""
    try:
        head = base64.b64decode("".join(encoded[:64].split())[:44], validate=True)
    except (binascii.Error, ValueError):
        return ""
    if head[:8] != b"\x89PNG\r\n\x1a\n" or len(head) < 24:
        return ""
    return f"{int.from_bytes(head[16:20])}x{int.from_bytes(head[20:24])}"


def _text(value: Any) -> str:  # Any: nbformat allows a text or a list of lines
    return "".join(str(part) for part in value) if isinstance(value, list) else str(value)


def _types(bundle: dict[str, Any]) -> str:
    return ", ".join(sorted(bundle)) or "none"


def _first_difference(before: str, after: str) -> str:
    """The first lines that differ, recorded and now."""
    old, new = before.splitlines(), after.splitlines()
    for line_before, line_after in zip(old, new, strict=False):
        if line_before != line_after:
            return f"{_cut(line_before)!r} was recorded, now {_cut(line_after)!r}"
    if len(old) > len(new):
        return f"the line {_cut(old[len(new)])!r} is missing now"
    if len(new) > len(old):
        return f"the line {_cut(new[len(old)])!r} was not recorded"
    return "the same lines, but not the same line ends"


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN // 2]} ... {text[-_SHOWN // 2 :]}"
