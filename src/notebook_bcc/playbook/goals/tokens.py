"""Text into small pieces that both languages share: a word of letters, a number, one Chinese character, a sign."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

# A goal that is longer is a document, not a question.
MOST_CHARACTERS: Final = 1_000
_WIDE: Final = "\u2e80-\u2fff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
_PIECE: Final = re.compile(
    rf"[{_WIDE}]"
    r"|(?<![\w.])[-+]?[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?"
    rf"|[0-9]+(?:\.[0-9]+)?"
    r"|[A-Z]+(?![a-z])|[A-Z]?[a-z]+"
    rf"|[^\W\d_A-Za-z{_WIDE}]+"
    r"|>=|<=|!=|<>|==|[<>=≥≤≠%]"
    r"|[?？,，、;；.。!！:：]"
    r"|[\"'`“”‘’「」『』《》]"
)
_NUMBER: Final = re.compile(r"[-+]?[0-9]")
_QUOTES: Final = frozenset("\"'`“”‘’「」『』《》")
_WIDE_PIECE: Final = re.compile(rf"[{_WIDE}]")


@dataclass(frozen=True, slots=True)
class Token:
    """One piece. `key` is what is compared; `quoted`: it stands between quotation marks."""

    text: str
    key: str
    quoted: bool = False

    @property
    def number(self) -> float | None:
        """Its value, where the piece is a number."""
        return float(self.text.replace(",", "")) if _NUMBER.match(self.text) else None

    @property
    def is_wide(self) -> bool:
        """True for a character of a script that puts no spaces between words."""
        return bool(_WIDE_PIECE.match(self.text))


def tokens_of(text: str) -> list[Token]:
    """The pieces of a text without its quotation marks: `SalePrice`, `sale_price` and `Sale price` give the same."""
    found: list[Token] = []
    quoted = False
    plain = _without_apostrophes(unicodedata.normalize("NFKC", text))
    for piece in _PIECE.findall(plain):
        if piece in _QUOTES:
            quoted = not quoted
        else:
            found.append(Token(piece, piece.casefold(), quoted))
    return found


def spaced(text: str) -> str:
    """The pieces with a space between them: the form in which phrases are looked up."""
    return " ".join(token.key for token in tokens_of(text))


def joined(text: str) -> str:
    """The pieces without anything between them: the form in which names and values are looked up."""
    return "".join(token.key for token in tokens_of(text))


def _without_apostrophes(text: str) -> str:
    """`isn't` and `what's` are one word each; a mark between letters opens no quotation."""
    return re.sub(r"(?<=[A-Za-z])['’](?=[A-Za-z])", "", text)
