"""TeX formulas as MathML, which browsers draw without any script or font of ours.

Covers what notebooks use: fractions, roots, scripts, Greek, sums, accents, matrices, cases, aligned equations. A
formula with anything else is not guessed at: `mathml` gives None and its source is shown instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from html import escape

from notebook_bcc.notebook.export import symbols

_TOKEN = re.compile(r"\\[A-Za-z]+\*?|\\.|\d+(?:[.,]\d+)*|\s+|.", re.DOTALL)
_MAX_DEPTH = 30
_MAX_LENGTH = 4000
_ENVIRONMENT_FENCES: Mapping[str, tuple[str, str]] = {
    "matrix": ("", ""),
    "smallmatrix": ("", ""),
    "pmatrix": ("(", ")"),
    "bmatrix": ("[", "]"),
    "Bmatrix": ("{", "}"),
    "vmatrix": ("|", "|"),
    "Vmatrix": ("‖", "‖"),
    "cases": ("{", ""),
    "array": ("", ""),
    "aligned": ("", ""),
    "align": ("", ""),
    "align*": ("", ""),
    "split": ("", ""),
    "gathered": ("", ""),
    "gather": ("", ""),
    "gather*": ("", ""),
    "equation": ("", ""),
    "equation*": ("", ""),
}
_EQUATIONS = frozenset({"aligned", "align", "align*", "split"})


def mathml(source: str, *, display: bool) -> str | None:
    """The `<math>` element of a TeX formula, or None when it has something this module does not know."""
    if len(source) > _MAX_LENGTH:
        return None
    try:
        content = _Formula(source).whole()
    except ValueError:
        return None
    mode = ' display="block"' if display else ""
    return f"<math{mode}>{_row(content)}</math>"


class _Formula:
    """A formula being read from left to right. ValueError: not understood."""

    def __init__(self, source: str) -> None:
        self._tokens = _TOKEN.findall(source)
        self._place = 0
        self._depth = 0
        self._special: Mapping[str, Callable[[str], str]] = {
            r"\frac": self._fraction,
            r"\dfrac": self._fraction,
            r"\tfrac": self._fraction,
            r"\binom": self._binomial,
            r"\sqrt": self._root,
            r"\left": self._fenced,
            r"\begin": self._environment,
            r"\operatorname": self._named_operator,
            r"\operatorname*": self._named_operator,
            r"\overbrace": lambda _: f"<mover>{self._argument()}<mo>⏞</mo></mover>",
            r"\underbrace": lambda _: f"<munder>{self._argument()}<mo>⏟</mo></munder>",
            r"\overset": lambda _: self._stacked("mover"),
            r"\stackrel": lambda _: self._stacked("mover"),
            r"\underset": lambda _: self._stacked("munder"),
            r"\underline": lambda _: f"<munder>{self._argument()}<mo>_</mo></munder>",
        }

    def whole(self) -> list[str]:
        content = self._items(frozenset())
        if token := self._peek():
            raise ValueError(f"unexpected {token!r}")
        if not content:
            raise ValueError("an empty formula")
        return content

    def _peek(self, *, spaces: bool = False) -> str:
        """The next token, empty at the end. Spaces mean nothing outside text."""
        while not spaces and self._place < len(self._tokens) and self._tokens[self._place].isspace():
            self._place += 1
        return self._tokens[self._place] if self._place < len(self._tokens) else ""

    def _take(self, wanted: str = "") -> str:
        token = self._peek()
        if not token or (wanted and token != wanted):
            raise ValueError(f"expected {wanted or 'more'!r}, found {token!r}")
        self._place += 1
        return token

    def _items(self, stops: frozenset[str]) -> list[str]:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise ValueError("nested too deeply")
        made: list[str] = []
        while (token := self._peek()) and token not in stops and token not in ("}", r"\right", r"\end", "&", r"\\"):
            made.append(self._scripted())
        self._depth -= 1
        return made

    def _scripted(self) -> str:
        """An item with what stands below and above it."""
        token = self._peek()
        base = "<mrow></mrow>" if token in ("^", "_", "'") else self._item()
        below = above = ""
        while (mark := self._peek()) in ("^", "_", "'"):
            if mark == "'":
                above = _row([above, self._primes()]) if above else self._primes()
            elif mark == "_" and not below:
                self._take()
                below = self._argument()
            elif mark == "^" and (not above or above.startswith("<mo>′")):
                self._take()
                above = _row([above, self._argument()]) if above else self._argument()
            else:
                raise ValueError("a double script")
        return _with_scripts(base, below, above, stacked=token in symbols.LIMITS)

    def _primes(self) -> str:
        count = 0
        while self._peek() == "'":
            self._take()
            count += 1
        return f"<mo>{'′' * count}</mo>"

    def _item(self) -> str:
        token = self._take()
        if token == "{":
            content = self._items(frozenset())
            self._take("}")
            return _row(content)
        if token[0].isdigit():
            return f"<mn>{token}</mn>"
        if token.startswith("\\"):
            return self._command(token)
        if token.isalpha():
            return f"<mi>{escape(token)}</mi>"
        if token in ("}", "&", "^", "_", "$", "#", "%"):
            raise ValueError(f"unexpected {token!r}")
        if token == "~":
            return '<mspace width="0.33em"></mspace>'
        return _operator({"-": "−", "*": "∗"}.get(token, token))

    def _command(self, token: str) -> str:
        name = token[1:]
        if token in self._special:
            return self._special[token](token)
        if name in symbols.LETTERS:
            return f"<mi>{symbols.LETTERS[name]}</mi>"
        if name in symbols.OPERATORS:
            return _operator(symbols.OPERATORS[name])
        if token in symbols.LIMITS:
            return f'<mo movablelimits="true">{symbols.LIMITS[token]}</mo>'
        if name in symbols.FUNCTIONS:
            return f"<mrow><mi>{name}</mi><mo>&#x2061;</mo></mrow>"
        if name in symbols.ACCENTS:
            return f'<mover accent="true">{self._argument()}<mo>{symbols.ACCENTS[name]}</mo></mover>'
        if name in symbols.SPACES:
            return f'<mspace width="{symbols.SPACES[name]}"></mspace>'
        if name in symbols.ALPHABETS or name in symbols.TEXTS:
            return self._lettered(name)
        if name in symbols.SIZES:
            return _operator(self._delimiter(), stretchy=False)
        if name in symbols.IGNORED:
            return ""
        raise ValueError(f"unknown command {token!r}")

    def _argument(self) -> str:
        if self._peek() in ("^", "_", "'"):
            raise ValueError("a script without its content")
        if (digits := self._peek())[:1].isdigit() and len(digits) > 1:
            # An argument without braces is one character: \frac12 is a half.
            self._tokens[self._place : self._place + 1] = [digits[0], digits[1:]]
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise ValueError("nested too deeply")
        made = self._item()
        self._depth -= 1
        return _row([made])

    def _words(self) -> str:
        """The text of an argument, as it is written."""
        self._take("{")
        words: list[str] = []
        while (token := self._peek(spaces=True)) != "}":
            if token in ("", "{", "$") or token.startswith("\\"):
                raise ValueError("only plain text can stand here")
            words.append(token)
            self._place += 1
        self._take("}")
        return "".join(words)

    def _lettered(self, name: str) -> str:
        if name in symbols.TEXTS:
            return f"<mtext>{_text(self._words())}</mtext>"
        if self._peek() != "{":
            return f"<mi>{symbols.in_alphabet(self._take(), name)}</mi>"
        words = self._words()
        if not words.isalnum():
            raise ValueError(f"only letters can follow {name!r}")
        upright = ' mathvariant="normal"' if name == "mathrm" and len(words) == 1 else ""
        return f"<mi{upright}>{symbols.in_alphabet(words, name)}</mi>"

    def _fraction(self, token: str) -> str:
        return f"<mfrac>{self._argument()}{self._argument()}</mfrac>"

    def _binomial(self, token: str) -> str:
        inner = f'<mfrac linethickness="0">{self._argument()}{self._argument()}</mfrac>'
        return f"<mrow><mo>(</mo>{inner}<mo>)</mo></mrow>"

    def _root(self, token: str) -> str:
        if self._peek() != "[":
            return f"<msqrt>{self._argument()}</msqrt>"
        self._take("[")
        degree = self._items(frozenset({"]"}))
        self._take("]")
        return f"<mroot>{self._argument()}{_row(degree)}</mroot>"

    def _stacked(self, element: str) -> str:
        small, base = self._argument(), self._argument()
        return f"<{element}>{base}{small}</{element}>"

    def _named_operator(self, token: str) -> str:
        words = _text(self._words())
        return f'<mo movablelimits="true">{words}</mo>' if token.endswith("*") else f"<mi>{words}</mi>"

    def _delimiter(self) -> str:
        token = self._take()
        if token == ".":
            return ""
        if token in symbols.DELIMITERS:
            return symbols.DELIMITERS[token]
        raise ValueError(f"{token!r} is no delimiter")

    def _fenced(self, token: str) -> str:
        opening = self._delimiter()
        content = self._items(frozenset())
        self._take(r"\right")
        return _fence(opening, _row(content), self._delimiter())

    def _environment(self, token: str) -> str:
        name = self._words()
        if name not in _ENVIRONMENT_FENCES:
            raise ValueError(f"unknown environment {name!r}")
        if name == "array":
            self._words()  # how the columns are aligned
        rows = self._rows()
        self._take(r"\end")
        if self._words() != name:
            raise ValueError("an environment that ends as another one")
        opening, closing = _ENVIRONMENT_FENCES[name]
        kind = ' class="eq"' if name in _EQUATIONS else ' class="cases"' if name == "cases" else ""
        body = "".join(f"<mtr>{''.join(f'<mtd>{one}</mtd>' for one in row)}</mtr>" for row in rows)
        return _fence(opening, f"<mtable{kind}>{body}</mtable>", closing)

    def _rows(self) -> list[list[str]]:
        rows: list[list[str]] = [[]]
        while True:
            rows[-1].append(_row(self._items(frozenset())))
            if self._peek() == "&":
                self._take()
            elif self._peek() == r"\\":
                self._take()
                rows.append([])
            else:
                # A closing `\\` before the end opens no row.
                return rows[:-1] if len(rows) > 1 and rows[-1] == [_row([])] else rows


def _row(items: list[str]) -> str:
    return items[0] if len(items) == 1 and items[0] else f"<mrow>{''.join(items)}</mrow>"


def _text(words: str) -> str:
    # Spaces at the ends of text are meant, and markup would drop them.
    return escape(re.sub(r"^\s+|(?<!\s)\s+$", "\u00a0", words))


def _operator(text: str, *, stretchy: bool = False) -> str:
    # Left alone, a browser stretches every bracket to the height of its row.
    fixed = ' stretchy="false"' if not stretchy and text in "()[]{}|‖⟨⟩⌈⌉⌊⌋/" else ""
    return f"<mo{fixed}>{escape(text)}</mo>"


def _fence(opening: str, content: str, closing: str) -> str:
    left = _operator(opening, stretchy=True) if opening else ""
    right = _operator(closing, stretchy=True) if closing else ""
    return f"<mrow>{left}{content}{right}</mrow>"


def _with_scripts(base: str, below: str, above: str, *, stacked: bool) -> str:
    base = _row([base])
    if below and above:
        element = "munderover" if stacked else "msubsup"
        return f"<{element}>{base}{below}{above}</{element}>"
    if below:
        element = "munder" if stacked else "msub"
        return f"<{element}>{base}{below}</{element}>"
    if above:
        element = "mover" if stacked else "msup"
        return f"<{element}>{base}{above}</{element}>"
    return base
