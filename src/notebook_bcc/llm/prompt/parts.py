"""Prompts: parts with a budget each, newest first, every cut marked, data kept apart from instructions. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from notebook_bcc.errors import SettingsInvalid
from notebook_bcc.planners.model_exchange import ChatImage, ChatMessage, Role

# What the chat templates of models use to begin a message: a text in the data must not begin one.
_CONTROL = re.compile(r"<(?=\||/?(?:s|data)\b|/?(?:start|end)_of_turn)|(?<=\|)>|\[(?=/?(?:INST|SYS)\b)", re.IGNORECASE)
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_MARKER = re.compile(r"^=== (system|user) ===[ \t]*$", re.MULTILINE)
_SLOT = re.compile(r"\{\{ *(\w+) *\}\}")
_PARAGRAPHS = re.compile(r"\n[ \t]*\n")
# What is left of an entry that does not fit is worth showing from here on.
_LEAST_PIECE = 40
# About what a figure of ours takes with the large vendors.
_IMAGE_TOKENS = 1_000


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a prompt: its entries, oldest first, and how many tokens it may have. `data` is not ours."""

    entries: Sequence[str]
    tokens: int
    data: bool = True


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """Messages with slots, `{{ name }}`. `source` is said in errors."""

    source: str
    messages: tuple[tuple[Role, str], ...]

    def slots(self) -> frozenset[str]:
        return frozenset(name for _, text in self.messages for name in _SLOT.findall(text))


def read_template(text: str, *, source: str, known: Sequence[str]) -> PromptTemplate:
    """The template in a text: `=== system ===` and `=== user ===`, each on a line, begin the two messages.

    Raises SettingsInvalid for a slot that does not exist, or without a message for the user.
    """
    pieces = _MARKER.split(text)
    found: list[tuple[Role, str]] = []
    for role, content in zip(pieces[1::2], pieces[2::2], strict=True):
        found.append(("system" if role == "system" else "user", content.strip()))
    template = PromptTemplate(source=source, messages=tuple(found))
    if "user" not in [role for role, _ in found]:
        raise SettingsInvalid(f"prompt {source} has no line `=== user ===`: what is asked stands below it")
    unknown = sorted(template.slots() - set(known))
    if unknown:
        raise SettingsInvalid(
            f"prompt {source} has slots that do not exist: {', '.join(unknown)}; use {', '.join(known)}"
        )
    return template


def build_prompt(
    template: PromptTemplate, parts: Mapping[str, Part], *, images: tuple[ChatImage, ...] = ()
) -> list[ChatMessage]:
    """The messages. A paragraph whose slots are all empty is left out. What stands in a slot is not looked at again.

    Images go with the last message, which is what is asked.
    """
    texts = {name: fitted(name, part) for name, part in parts.items()}
    messages = []
    for role, text in template.messages:
        paragraphs = [_filled(one, texts) for one in _PARAGRAPHS.split(text)]
        messages.append(ChatMessage(role, "\n\n".join(one for one in paragraphs if one.strip())))
    kept = [one for one in messages if one.content]
    return [*kept[:-1], replace(kept[-1], images=images)] if images and kept else kept


def fitted(name: str, part: Part) -> str:
    """The newest entries of a part that its tokens allow, oldest first, with what was cut said in their place."""
    kept: list[str] = []
    left = part.tokens
    entries = [_UNSEEN.sub("", one) for one in part.entries if one.strip()]
    for number, entry in enumerate(reversed(entries)):
        need = estimate_tokens(entry)
        if need > left:
            piece = shortened(entry, tokens=left) if left >= _LEAST_PIECE else ""
            older = len(entries) - number - bool(piece)
            kept += [piece] if piece else []
            kept += [f"[... {older} older entries cut ...]"] if older else []
            break
        kept.append(entry)
        left -= need
    text = "\n".join(reversed(kept))
    return as_data(name, text) if part.data and text else text


def as_data(name: str, text: str) -> str:
    """The text between marks that it cannot close: whatever it says, it is data."""
    return f'<data name="{name}">\n{_CONTROL.sub(_spaced, text)}\n</data>'


def shortened(text: str, *, tokens: int) -> str:
    """Beginning and end of a text around a mark that says how much was cut."""
    share = min(1.0, tokens / max(1, estimate_tokens(text)))
    room = max(0, int(len(text) * share) - 40)
    head = room * 2 // 3
    tail = room - head
    cut = len(text) - head - tail
    return f"{text[:head]}\n[... {cut} characters cut ...]\n{text[len(text) - tail :]}"


def estimate_tokens(text: str) -> int:
    """About how many tokens a text has, rather too many than too few: no tokenizer is needed.

    Some tokenizers take every digit for itself; a Chinese character is about one token.
    """
    narrow = text.encode("ascii", "ignore")
    others = len(narrow.translate(None, b"0123456789."))
    return 1 + int(others * 0.32 + (len(narrow) - others) * 0.95 + (len(text) - len(narrow)) * 1.1)


def estimate_prompt(messages: Sequence[ChatMessage]) -> int:
    """About how many tokens the messages have, with what goes around them."""
    return sum(estimate_tokens(one.content) + 6 + _IMAGE_TOKENS * len(one.images) for one in messages)


def _filled(paragraph: str, texts: Mapping[str, str]) -> str:
    slots = _SLOT.findall(paragraph)
    if slots and not any(texts.get(name) for name in slots):
        return ""
    return _SLOT.sub(lambda slot: texts.get(slot[1], ""), paragraph)


def _spaced(mark: re.Match[str]) -> str:
    return f" {mark[0]}" if mark[0] == ">" else f"{mark[0]} "
