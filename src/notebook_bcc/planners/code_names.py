"""Which names of the namespace a piece of code reads and makes, asked of Python's own tables. Pure: nothing is run."""

from __future__ import annotations

import ast
import builtins
import symtable
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

_BUILTIN: Final = frozenset(dir(builtins))
_HOLDING: Final = (
    ast.For, ast.While, ast.If, ast.With, ast.Try, ast.Match, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CodeNames:
    """`read` are names that must exist before the code runs; `made` those that it binds or unbinds."""

    read: frozenset[str] = frozenset()
    made: frozenset[str] = frozenset()


@lru_cache(maxsize=64)
def code_names(source: str) -> CodeNames:
    """The names of a cell, its statements in their order. Raises SyntaxError for what is no Python.

    A name that only one branch of the code assigns, or a loop somewhere inside, counts as made from there on.
    """
    read: set[str] = set()
    made: set[str] = set()
    # A lone carriage return ends a line as well.
    source = source.replace("\r\n", "\n").replace("\r", "\n")
    lines = source.split("\n")
    statements = ast.parse(source).body
    ends = [0, *(one.end_lineno or 0 for one in statements)]
    for statement, end in zip(statements, ends, strict=False):
        found = _of_statement(statement, _text(statement, lines, alone=_first_line(statement) > end))
        read |= found.read - made
        made |= found.made
    return CodeNames(read=frozenset(read - _BUILTIN), made=frozenset(made))


def _text(statement: ast.stmt, lines: list[str], *, alone: bool) -> str:
    """The source of a statement: its lines where they are its own, which is faster than writing it anew."""
    end = statement.end_lineno or 0
    rest = lines[end - 1].encode()[statement.end_col_offset or 0 :].strip()
    if not alone or statement.col_offset or (rest and not rest.startswith(b"#")):
        return ast.unparse(statement)
    return "\n".join(lines[_first_line(statement) - 1 : end])


def _first_line(statement: ast.stmt) -> int:
    match statement:
        case ast.FunctionDef(decorator_list=found) | ast.AsyncFunctionDef(decorator_list=found):
            pass
        case ast.ClassDef(decorator_list=found):
            pass
        case _:
            found = []
    return min([statement.lineno, *(one.lineno for one in found)])


def _of_statement(statement: ast.stmt, text: str) -> CodeNames:
    top = symtable.symtable(text, "<cell>", "exec")
    read = {
        symbol.get_name()
        for table in _tables(top)
        for symbol in table.get_symbols()
        if symbol.is_referenced() and (table is top or symbol.is_global())
    }
    made = {
        symbol.get_name()
        for symbol in top.get_symbols()
        if symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()
    }
    augmented: set[str] = set()
    for node in ast.walk(statement):
        match node:
            case ast.AugAssign(target=ast.Name(id=name)):
                augmented.add(name)
            # A function may bind a name of the namespace by `global`, a comprehension one by `:=`.
            case ast.Global(names=names):
                made |= {*names}
            case ast.NamedExpr(target=ast.Name(id=name)):
                made.add(name)
    # What a statement that holds others binds somewhere inside, and a function its own name, it need not find.
    inner = made - augmented if isinstance(statement, _HOLDING) else set()
    return CodeNames(read=frozenset((read - inner) | augmented), made=frozenset(made))


def _tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    yield table
    for child in table.get_children():
        yield from _tables(child)
