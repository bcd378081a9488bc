"""Effects: what code printed, displayed, returned or raised, as bounded text. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from notebook_bcc.engine.changes import StateChanges
from notebook_bcc.engine.state import EFFECTS_KEPT, RunState, bounded
from notebook_bcc.protocol.cells import Output

EFFECT_CHARS = 4000
_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")


def with_effects(state: RunState, *texts: str) -> StateChanges:
    """The texts join the current effects; the oldest give way to history."""
    effects = (*state.effects, *texts)
    over = len(effects) - EFFECTS_KEPT
    if over <= 0:
        return {"effects": effects}
    history = bounded(state.effects_history, *effects[:over], keep=EFFECTS_KEPT)
    return {"effects": effects[over:], "effects_history": history}


def archive_effects(state: RunState) -> StateChanges:
    """What the behavior before left behind becomes history.

    It stays current until the next behavior acts or the step is left: the judgement on a behavior, and the request for
    the next one, are made from it.
    """
    if not state.effects:
        return {}
    return {"effects": (), "effects_history": bounded(state.effects_history, *state.effects, keep=EFFECTS_KEPT)}


def effects_of(outputs: Iterable[Output], *, limit: int = EFFECT_CHARS) -> tuple[str, ...]:
    """One text for each output that has one, colours taken out, long ones cut in the middle with a marker."""
    texts = [text for text in map(_text, outputs) if text.strip()]
    return tuple(shortened(text, limit) for text in texts)


def shortened(text: str, limit: int) -> str:
    """The text, or its beginning and end around a marker that says how much was cut."""
    if len(text) <= limit:
        return text
    half = max(1, limit // 2)
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters cut ...]\n{text[-half:]}"


def _text(output: Output) -> str:
    kind = output.get("output_type")
    if kind == "stream":
        return _ANSI.sub("", _joined(output.get("text", ""))).rstrip("\n")
    if kind == "error":
        lines = [_ANSI.sub("", _joined(line)) for line in output.get("traceback") or ()]
        last = f"{output.get('ename', 'Error')}: {output.get('evalue', '')}"
        return "\n".join(lines) if lines else last
    data = output.get("data") or {}
    plain = data.get("text/plain")
    images = [mime for mime in data if mime.startswith("image/")]
    if plain is not None:
        return _joined(plain) + (f" [{images[0]}]" if images else "")
    return f"[{', '.join(data)}]" if data else ""


def _joined(text: str | list[str]) -> str:
    return text if isinstance(text, str) else "".join(text)
