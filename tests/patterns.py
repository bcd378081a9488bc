"""Every regular expression of the source, found by reading it: a new one is found without being named anywhere.

A pattern may be put together from constants, f-strings and names; where a name has several values, each counts. What is
only known at run time stands for a short word, as `re.escape(name)` would.
"""

from __future__ import annotations

import ast
import importlib
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import notebook_bcc

SOURCE = Path(notebook_bcc.__file__).parent
_FUNCTIONS = {"compile", "search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"}
# pandas' methods that take a pattern; `replace` and `split` take one only when told so.
_COLUMN_METHODS = {"contains", "extract", "extractall", "match", "fullmatch", "count", "findall", "replace", "split"}
_FROM_THE_START = {"match", "fullmatch"}
_RUN_TIME = "word"
_MOST_VALUES = 16


@dataclass(frozen=True)
class Pattern:
    """One pattern, where it stands and how it is used."""

    place: str
    text: str | bytes
    flags: int
    methods: frozenset[str]

    @property
    def is_anchored(self) -> bool:
        """True if it is only ever tried at the beginning of a text."""
        return bool(self.methods) and self.methods <= _FROM_THE_START

    def compiled(self) -> re.Pattern[str]:
        text = self.text.decode("latin-1") if isinstance(self.text, bytes) else self.text
        return re.compile(text, self.flags)


@dataclass(frozen=True)
class Unread:
    """A call whose pattern cannot be told from the source."""

    place: str
    code: str


def read_source() -> tuple[list[Pattern], list[Unread]]:
    """All patterns, and the calls whose pattern is not in the source."""
    trees = {path: ast.parse(_as_python(path)) for path in sorted(SOURCE.rglob("*.py"))}
    everywhere = _methods_by_name(trees.values())
    patterns: list[Pattern] = []
    unread: list[Unread] = []
    for path, tree in trees.items():
        # A private name is used in its own file alone.
        used = everywhere | {name: ways for name, ways in _methods_by_name([tree]).items() if name.startswith("_")}
        for found in _Reader(path, tree, used).read():
            if isinstance(found, Pattern):
                patterns.append(found)
            else:
                unread.append(found)
    return patterns, unread


def literals() -> Iterator[tuple[str, str]]:
    """Every text that is written in the source: where, and what."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(_as_python(path))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
                text = node.value if isinstance(node.value, str) else node.value.decode("latin-1")
                yield f"{path.relative_to(SOURCE)}:{node.lineno}", text


def _as_python(path: Path) -> str:
    """The source. A playbook's cell is a template: what it fills in becomes a name, magics become comments."""
    text = path.read_text(encoding="utf-8")
    if "cells" not in path.parts:
        return text
    lines: list[str] = []
    for line in re.sub(r"\{%.*?%\}", "", re.sub(r"\{\{.*?\}\}", "filled_in", text)).split("\n"):
        if line.lstrip().startswith("#%") and lines and lines[-1].endswith(":"):
            # Both branches of a template's condition stand here, and each opens a block.
            indent = len(lines[-1]) - len(lines[-1].lstrip()) + 4
            lines.append(f"{' ' * indent}pass")
        else:
            lines.append(f"#{line}" if line.startswith("%") else line)
    return "\n".join(lines)


def _methods_by_name(trees: Iterable[ast.Module]) -> dict[str, set[str]]:
    """What is asked of each name anywhere: `_NUMBER.sub(...)` gives {"_NUMBER": {"sub"}}."""
    used: dict[str, set[str]] = {}
    for node in itertools.chain.from_iterable(map(ast.walk, trees)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name | ast.Attribute):
            used.setdefault(_name(node.value), set()).add(node.attr)
        elif isinstance(node, ast.Call):
            # `_past(pattern, text, at)` is a match; whatever else takes a pattern may do anything with it.
            way = "match" if isinstance(node.func, ast.Name) and node.func.id == "_past" else "search"
            for value in node.args:
                if isinstance(value, ast.Name):
                    used.setdefault(value.id, set()).add(way)
    return used


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


class _Reader:
    """Reads one file."""

    def __init__(self, path: Path, tree: ast.Module, used: Mapping[str, set[str]]) -> None:
        self._place = path.relative_to(SOURCE).as_posix()
        self._is_cell = "cells" in path.parts
        self._tree = tree
        self._used = used
        self._parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        self._assigned: dict[str, list[ast.expr]] = {}
        for node in ast.walk(tree):
            for target, value in _assignments(node):
                self._assigned.setdefault(target, []).append(value)
        module = ".".join(("notebook_bcc", *path.relative_to(SOURCE).with_suffix("").parts))
        self._values = {} if self._is_cell else vars(importlib.import_module(module))
        self._seen: set[ast.expr] = set()

    def read(self) -> Iterator[Pattern | Unread]:
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Call) and (argument := _pattern_argument(node, is_cell=self._is_cell)) is not None:
                yield from self._of_call(node, argument)
        if self._is_cell:
            # Patterns that reach their function in a roundabout way.
            for node in ast.walk(self._tree):
                match node:
                    case ast.Constant(value=str() as text) if node not in self._seen and _looks_like_one(text):
                        yield Pattern(f"{self._place}:{node.lineno}", text, 0, frozenset({"search"}))

    def _of_call(self, call: ast.Call, argument: ast.expr) -> Iterator[Pattern | Unread]:
        place = f"{self._place}:{call.lineno}"
        try:
            texts = self._texts(argument)
        except LookupError:
            yield Unread(self._place, ast.unparse(call))
            return
        flags = 0
        for value in [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg == "flags")]:
            flags |= sum(
                getattr(re, part.attr)
                for part in ast.walk(value)
                if isinstance(part, ast.Attribute) and _name(part.value) == "re" and part.attr.isupper()
            )
        for text in texts:
            yield Pattern(place, text, flags, frozenset(self._methods(call)))

    def _methods(self, call: ast.Call) -> set[str]:
        """How the pattern is used: as the call says, or as the name that it is given to."""
        function = _name(call.func)
        if function != "compile":
            return {function}
        parent = self._parents[call]
        if isinstance(parent, ast.Attribute):
            return {parent.attr}
        if isinstance(parent, ast.Assign | ast.AnnAssign):
            (target,) = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
            return self._used.get(_name(target), set())
        return set()

    def _texts(self, node: ast.expr) -> list[str | bytes]:
        """What this expression may be. LookupError: the source does not say."""
        self._seen.add(node)
        match node:
            case ast.Constant(value=str() | bytes() as text):
                return [text]
            case ast.JoinedStr(values=parts):
                return _joined(self._texts(part) for part in parts)
            case ast.FormattedValue(value=value):
                return self._texts(value)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return _joined([self._texts(left), self._texts(right)])
            case ast.IfExp(body=body, orelse=other):
                return [*self._texts(body), *self._texts(other)]
            case ast.Call(func=ast.Attribute(attr="escape" | "join")):
                return [_RUN_TIME]
            case ast.Call(func=ast.Attribute(value=value, attr="replace")):
                return self._texts(value)
            case ast.Subscript(value=ast.Name(id=name)) if name in self._assigned:
                tables = [value for value in self._assigned[name] if isinstance(value, ast.Dict)]
                return [text for table in tables for value in table.values for text in self._texts(value)]
            case ast.Attribute(attr=name):
                return [_RUN_TIME]
            case ast.Name(id=name) if isinstance(known := self._values.get(name), str | bytes):
                return [known]
            case ast.Name(id=name) if name in self._assigned:
                return [text for value in self._assigned[name] for text in self._texts(value)]
        raise LookupError(ast.unparse(node))


def _pattern_argument(call: ast.Call, *, is_cell: bool) -> ast.expr | None:
    """What is given as the pattern, if this is a call that takes one."""
    if not isinstance(call.func, ast.Attribute) or not call.args:
        return None
    function, owner = call.func.attr, call.func.value
    if isinstance(owner, ast.Name) and owner.id in {"re", "regex"}:
        return call.args[0] if function in _FUNCTIONS else None
    if is_cell and _name(owner) == "str" and function in _COLUMN_METHODS:
        told = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}
        plain = function in {"replace", "split"} and told.get("regex") != "True"
        return None if plain or told.get("regex") == "False" else call.args[0]
    return None


def _assignments(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            yield name, value
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            yield name, value
        case ast.For(target=ast.Name(id=name), iter=ast.Constant(value=str() as signs)):
            for sign in signs:
                yield name, ast.Constant(sign)
        case ast.comprehension(target=ast.Tuple(elts=names), iter=ast.Tuple(elts=rows)):
            for row in rows:
                values = row.elts if isinstance(row, ast.Tuple) else []
                yield from ((_name(name), value) for name, value in zip(names, values, strict=True))
        case _:
            pass


def _joined(parts: Iterable[Sequence[str | bytes]]) -> list[str | bytes]:
    together = itertools.islice(itertools.product(*parts), _MOST_VALUES)
    return ["".join(str(piece) for piece in pieces) for pieces in together]


def _looks_like_one(text: str) -> bool:
    try:
        re.compile(text)
    except re.error:
        return False
    return bool(set(text) & set("\\*+{^$"))
