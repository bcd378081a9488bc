"""Which form of an output is shown where nothing can run: picture, table, text; and what was left out."""

from __future__ import annotations

import binascii
import re
from base64 import b64decode, b64encode
from dataclasses import dataclass
from typing import Any

from notebook_bcc.notebook.encoding import clean_text
from notebook_bcc.protocol.cells import Output

IMAGE_EXTENSIONS = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/svg+xml": "svg",
}
_OBJECT = re.compile(r"\s*(?:<.*>|[\w.]*(?:Figure|FigureWidget|Chart|Widget)\(.*)\s*", re.DOTALL)
_ACTIVE = re.compile(r"<\s*(?:script|iframe|object|embed|video|audio|canvas)\b", re.IGNORECASE)
_STYLED = re.compile(r"<\s*style\b", re.IGNORECASE)
# scikit-learn's picture of an estimator: folds drawn by a style sheet. Its text says the same.
_ESTIMATOR = "sk-top-container"


@dataclass(frozen=True, slots=True)
class PictureOutput:
    """An image as bytes; `width` in pixels when the output asks for one."""

    mime: str
    content: bytes
    width: int | None = None

    @property
    def data_uri(self) -> str:
        return f"data:{self.mime};base64,{b64encode(self.content).decode()}"


@dataclass(frozen=True, slots=True)
class TextOutput:
    """Terminal text, colours included. `is_error` for what a cell raised or wrote to its error stream."""

    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Html:
    """HTML of a stranger: not sanitised yet. `fallback` says the same in plain text, or is empty."""

    html: str
    fallback: str = ""


@dataclass(frozen=True, slots=True)
class MarkdownOutput:
    """Markdown that code displayed, formulas included."""

    source: str


@dataclass(frozen=True, slots=True)
class Interactive:
    """Something that needs scripts to be seen; `text` is what its plain form says, if that says anything."""

    text: str = ""


Shown = PictureOutput | TextOutput | Html | MarkdownOutput | Interactive


def shown(output: Output) -> Shown:
    """The best form of an output for a reader without a kernel and without scripts."""
    match output["output_type"]:
        case "stream":
            return TextOutput(joined(output.get("text", "")), is_error=output.get("name") == "stderr")
        case "error":
            lines = [joined(line) for line in output.get("traceback", ())]
            plain = f"{output.get('ename', 'Error')}: {output.get('evalue', '')}"
            return TextOutput("\n".join(lines) or plain, is_error=True)
        case _:
            return _displayed(output.get("data", {}), output.get("metadata", {}))


def joined(value: Any) -> str:  # Any: nbformat allows text and lists of lines
    """The text of a field that may be one text or a list of lines."""
    return clean_text("".join(map(str, value)) if isinstance(value, list) else str(value))


def is_active(html: str) -> bool:
    """Whether the HTML has parts that run or load something: they are left out of what is exported."""
    return _ACTIVE.search(html) is not None


def _displayed(data: dict[str, Any], metadata: dict[str, Any]) -> Shown:
    for mime in IMAGE_EXTENSIONS:
        if mime in data and (picture := _picture(mime, data[mime], metadata.get(mime))) is not None:
            return picture
    text = joined(data.get("text/plain", ""))
    speaking = "" if _OBJECT.fullmatch(text) else text
    html = joined(data.get("text/html", ""))
    if html and not (speaking and _needs_its_page(html)):
        return Html(html, fallback=speaking)
    if "text/markdown" in data:
        return MarkdownOutput(joined(data["text/markdown"]))
    if "text/latex" in data:
        latex = joined(data["text/latex"])
        return MarkdownOutput(latex if "$" in latex else f"$${latex}$$")
    if html or not text or any("+json" in mime for mime in data):
        return Interactive(speaking)
    return TextOutput(text)


def _needs_its_page(html: str) -> bool:
    """Whether HTML makes little sense without its own scripts and styles. A table always makes sense."""
    if _ESTIMATOR in html:
        return True
    return "<table" not in html and (is_active(html) or _STYLED.search(html) is not None)


def _picture(mime: str, value: Any, metadata: Any) -> PictureOutput | None:  # Any: whatever the code displayed
    text = joined(value)
    try:
        content = text.encode() if mime == "image/svg+xml" else b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return None
    width = metadata.get("width") if isinstance(metadata, dict) else None
    return PictureOutput(mime, content, width=width if isinstance(width, int) and 0 < width < 10_000 else None)
