"""The head of a table written as text: separated values, or JSON."""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
from collections.abc import Mapping
from typing import Any, Final

from notebook_bcc.lifecycle.heads.head import UNKNOWN, Head, clean_names, headed

_SEPARATORS: Final = ",;\t|"
_NOTHING: Final = b"\xef\xbb\xbf\xff\xfe\x00\r\n\t ,;|"
_MARKUP: Final = re.compile(rb"(?i)(\xef\xbb\xbf)?\s*<(!doctype|html|\?xml)")
_JSON: Final = re.compile(rb'(\xef\xbb\xbf)?\s*(\{\s*["}]|\[\s*[\[{\]])')


def text_head(content: bytes, *, whole: bool) -> Head:
    """What text shows. `whole`: there is no more of it."""
    if whole and not content.strip(_NOTHING):
        return Head(problem="is empty")
    if _MARKUP.match(content):
        return Head(problem="is a web page or XML, not a table")
    if _JSON.match(content):
        return _json_head(content) if whole else UNKNOWN
    text, certain = _decoded(content, whole=whole)
    lines = [line for line in text.splitlines() if line.strip()]
    if whole and len(lines) == 1 and any(map(str.isalpha, lines[0])):
        return Head(problem="has a line of names and no rows of data")
    rows = _rows(text if whole else text[: text.rfind("\n") + 1])
    return headed(rows, whole=whole, ascii_only=not certain) if rows else UNKNOWN


def _decoded(content: bytes, *, whole: bool) -> tuple[str, bool]:
    """The text, and whether its encoding is certain. Other encodings write ASCII alike."""
    utf_16 = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    for encoding in ("utf-16",) if utf_16 else ("utf-8-sig", "gb18030"):
        try:
            text = codecs.getincrementaldecoder(encoding)().decode(content, final=whole)
        except UnicodeDecodeError:
            continue
        return text, encoding != "gb18030"
    return content.decode("latin-1"), False


def _rows(text: str) -> list[list[str]]:
    """The rows, where one separator and no other makes all of them equally long; else none."""
    found = []
    for separator in _SEPARATORS:
        try:
            rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator) if row]
        except csv.Error:
            return []
        if rows and len(rows[0]) > 1 and all(len(row) == len(rows[0]) for row in rows):
            found.append(rows)
    if found:
        return found[0] if len(found) == 1 else []
    first, *rest = [line.strip() for line in text.splitlines() if line.strip()] or [""]
    one_column = not any(mark in line for line in (first, *rest) for mark in (*_SEPARATORS, '"')) and " " not in first
    return [[line] for line in (first, *rest)] if one_column else []


def _json_head(content: bytes) -> Head:
    try:
        parsed = json.loads(content)
    except ValueError:
        try:
            parsed = [json.loads(line) for line in content.splitlines() if line.strip()]
        except ValueError:
            return Head(problem="is JSON that is broken")
    tables = [one for one in parsed.values() if _is_records(one)] if isinstance(parsed, dict) else []
    records = max(tables, key=len, default=parsed)
    if records == []:
        return Head(problem="is JSON without any records")
    if not _is_records(records):
        return UNKNOWN
    rows = [_flat(record) for record in records]
    names = list(dict.fromkeys(name for row in rows for name in row))
    table = tuple(tuple("" if (value := row.get(name)) is None else str(value) for name in names) for row in rows)
    return Head(names=clean_names(names), rows=table, whole=True)


def _is_records(value: Any) -> bool:  # Any: decoded JSON
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def _flat(record: Mapping[str, Any]) -> dict[str, Any]:  # Any: decoded JSON
    """One level of what lies inside gets names of its own, as pandas does it."""
    flat: dict[str, Any] = {}
    for name, value in record.items():
        flat |= {f"{name}.{inner}": one for inner, one in value.items()} if isinstance(value, dict) else {name: value}
    return flat
