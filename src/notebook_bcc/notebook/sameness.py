"""Did a cell do the same again? Two lists of outputs compared, apart from what differs between any two executions.

Text is compared exactly, after addresses in memory, phrases of elapsed time, ids drawn for one page, temporary files
and the working directory have been replaced by placeholders. The list is short and closed, and nothing in it goes over
the end of a line: any other number counts. Pictures are compared by type and size: pixels may differ between machines.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from notebook_bcc.protocol.cells import Output

_NUMBER = r"\d+(?:\.\d+)?(?:e[+-]?\d+)?"
_DURATION = rf"(?:\d+h )?(?:\d+min )?{_NUMBER}[ \t]?(?:ns|[µμu]s|ms|s|secs?|seconds?|mins?|minutes?|h|hours?)\b"
_CLOCK = r"\d+:\d\d(?::\d\d)?"

# What two executions of the same code do not share; docs/cli.md has the list. The group `kept`, if there is one, stays.
# Each begins with a fixed text or at the edge of a word, and repeats within bounds: a long text is read once.
_PLACEHOLDERS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\x1b\[[0-9;]*m"), ""),
    # `<function f at 0x7f3a12bc>`. A hexadecimal number elsewhere is data.
    (re.compile(r"(?P<kept>\bat )0x[0-9a-fA-F]{6,16}\b"), "<address>"),
    # A warning of a cell names a file that ipykernel makes up.
    (re.compile(r"(?<![\w.+~/-])(?:/[\w.+~-]+)*/ipykernel_\d+/\d+\.py\b"), "<cell>"),
    # Of `tempfile`.
    (re.compile(r"(?P<kept>/)tmp[a-z0-9_]{8}\b"), "<temporary>"),
    # %time and %timeit.
    (re.compile(rf"(?P<kept>\bCPU times: )(?:(?:user |sys: |total: ){_DURATION}(?:, )?){{1,3}}"), "<time>"),
    (
        re.compile(
            rf"\b{_DURATION} ± {_DURATION} per loop \(mean ± std\. dev\. of \d+ runs?, [\d,]{{1,12}} loops? each\)"
        ),
        "<time>",
    ),
    # "Wall time: 1.2 s", "elapsed: 0:00:01.2", "0.3 s elapsed", "--- 1.2 seconds ---".
    (
        re.compile(
            r"(?P<kept>\b(?:wall time|execution time|elapsed time|elapsed)(?: \([a-z]{1,10}\))?(?:[:=]|(?= )))"
            rf"[ \t]{{0,8}}(?:{_DURATION}|{_CLOCK}(?:\.\d+)?|\d+\.\d+(?:e[+-]?\d+)?\b)",
            re.IGNORECASE,
        ),
        "<time>",
    ),
    (re.compile(rf"\b{_DURATION}(?= elapsed\b)"), "<time>"),
    (re.compile(rf"(?P<kept>--- ){_NUMBER} seconds(?= ---)"), "<time>"),
    # "took 3 ms", "done in 1.2 s"; scikit-learn's "total time=   0.1s" and ", total=   0.1s"; LightGBM's "testing was".
    (
        re.compile(
            r"(?P<kept>\b(?:took|(?:done|finished|completed|loaded|trained|fitted|computed) in|testing was)(?= )"
            rf"|\btotal time=|, total=(?= ))[ \t]{{0,8}}{_DURATION}",
            re.IGNORECASE,
        ),
        "<time>",
    ),
    # Progress bars: the clock and the rate. What is counted, and what a loop tells behind the rate, is data.
    (
        re.compile(
            rf"(?P<kept>\[){_CLOCK}(?:<(?:{_CLOCK}|\?))?, {{1,4}}(?:\d+(?:\.\d+)?[kMGTPEZY]?|\?)"
            r" ?[^\s\d\[\],/]{0,20}/[^\s\d\[\],/]{1,20}"
        ),
        "<rate>",
    ),
    (re.compile(rf"\b\d+(?:ms|s) {_NUMBER}(?:us|ms|s)/(?:step|epoch)\b"), "<rate>"),
)
# Ids that libraries draw for one page: of plots, maps and widgets, and of pandas' styled tables.
_HEX = "[0-9a-f]"
_DRAWN = rf"{_HEX}{{8}}-?{_HEX}{{4}}-?{_HEX}{{4}}-?{_HEX}{{4}}-?{_HEX}{{12}}|T_{_HEX}{{5,32}}"
_DRAWN_ID = re.compile(
    r"""(?:\bid=|"(?:docid|model_id)": ?)(?:\\?["']|&quot;)"""
    rf"""(?:[A-Za-z][A-Za-z_-]{{0,40}})??({_DRAWN})(?![0-9a-z])"""
)
# scikit-learn counts its diagrams, whatever else the kernel has shown.
_NUMBERED_ID = re.compile(r"\bsk-(?:container|estimator)-id-\d+\b")
_EMBEDDED = re.compile(r"data:(image/[a-z.+-]{1,20});base64,([A-Za-z0-9+/=]*)")
_SHOWN = 200


def differences(recorded: Sequence[Output], now: Sequence[Output], *, folders: Iterable[str] = ()) -> list[str]:
    """What differs, one sentence each; empty when the outputs are the same. `folders` are working directories."""
    found: list[str] = []
    places = [folder for folder in folders if folder]
    for stream in ("stdout", "stderr"):
        before, after = (_stream(outputs, stream) for outputs in (recorded, now))
        if before == after:
            continue
        before, after = (normalized(text, folders=places) for text in (before, after))
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
        text = pattern.sub(rf"\g<kept>{placeholder}" if "kept" in pattern.groupindex else placeholder, text)
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
        if before[mime] == after[mime]:
            continue
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
        return _without_ids(normalized(json.dumps(value, sort_keys=True, ensure_ascii=False), folders=folders))
    if mime in ("text/html", "text/markdown", "application/javascript"):
        pictured = _EMBEDDED.sub(lambda found: f"<{found[1]} {_picture_size(found[2])}>", _text(value))
        return _without_ids(normalized(pictured, folders=folders))
    return normalized(_text(value), folders=folders)


def _without_ids(page: str) -> str:
    """The page with what it declares as an id drawn for it replaced wherever it stands. Other such texts are data."""
    drawn = {name: f"<id {number}>" for number, name in enumerate(dict.fromkeys(_DRAWN_ID.findall(page)), 1)}
    if drawn:
        page = re.sub("|".join(map(re.escape, drawn)), lambda found: drawn[found[0]], page)
    return _NUMBERED_ID.sub("<id>", page)


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
