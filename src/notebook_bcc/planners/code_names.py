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
# Statements that open no scope of their own, and bind names only as names.
_PLAIN: Final = (
    ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Import, ast.ImportFrom, ast.Delete, ast.For, ast.While,
    ast.If, ast.With, ast.Raise, ast.Assert, ast.Pass, ast.Break, ast.Continue,
)  # fmt: skip
_COMPREHENSIONS: Final = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
# They say nothing on their own: Load, Add, And, ...
_BARE: Final = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop)
_NOWHERE: Final[frozenset[str]] = frozenset()


@dataclass(frozen=True, slots=True)
class CodeNames:
    """`read` are names that must exist before the code runs; `made` those that it binds or unbinds."""

    read: frozenset[str] = frozenset()
    made: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Code:
    """A cell, read once: all that is in it, statement by statement, and its names."""

    nodes: tuple[ast.AST, ...]
    names: CodeNames


@lru_cache(maxsize=16)
def read_code(source: str) -> Code:
    """What is in a cell. Raises SyntaxError for what is no Python.

    A name that only one branch of the code assigns, or a loop somewhere inside, counts as made from there on.
    """
    read: set[str] = set()
    made: set[str] = set()
    nodes: list[ast.AST] = []
    # A lone carriage return ends a line as well.
    source = source.replace("\r\n", "\n").replace("\r", "\n")
    lines = source.split("\n")
    end = 0
    for statement in _parsed(source).body:
        walk = _Walk(statement)
        names = walk.names
        if names is None:
            text = _text(statement, lines, alone=_first_line(statement) > end)
            names = table_names(statement, walk.nodes, text)
        read |= names.read - made
        made |= names.made
        nodes += walk.nodes
        end = statement.end_lineno or 0
    return Code(tuple(nodes), CodeNames(read=frozenset(read - _BUILTIN), made=frozenset(made)))


def _parsed(source: str) -> ast.Module:
    """The parser has other errors too, for null bytes and for what is nested too deeply."""
    try:
        return ast.parse(source)
    except (ValueError, RecursionError, MemoryError) as error:
        raise SyntaxError(str(error) or "nested too deeply") from error


def code_names(source: str) -> CodeNames:
    """The names of a cell. Raises SyntaxError for what is no Python."""
    return read_code(source).names


def bound_names(target: ast.expr) -> list[str]:
    """The names that an assignment binds; an item or attribute of something is none."""
    if isinstance(target, (ast.Tuple, ast.List)):
        return [name for one in target.elts for name in bound_names(one)]
    if isinstance(target, ast.Starred):
        return bound_names(target.value)
    return [target.id] if isinstance(target, ast.Name) else []


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


class _Walk:
    """All that is in a statement, from the outside in, and its names on the way; None where that takes more care.

    A cell that is to be run waits for this: to ask Python's own tables takes several times as long.
    """

    def __init__(self, statement: ast.stmt) -> None:
        self.nodes: list[ast.AST] = []
        self._read: set[str] = set()
        self._made: set[str] = set()
        self._augmented: set[str] = set()
        self._is_plain = True
        # Each node with the names that belong to a comprehension or a lambda around it.
        self._waiting: list[tuple[ast.AST, frozenset[str]]] = [(statement, _NOWHERE)]
        for node, local in self._waiting:
            self.nodes.append(node)
            self._note(node, local)
            if isinstance(node, _COMPREHENSIONS):
                self._enter_comprehension(node, local)
            elif isinstance(node, ast.Lambda):
                self._enter_lambda(node, local)
            else:
                self._enter(node, local)
        kinds = set(map(type, self.nodes))
        if {ast.Lambda, ast.NamedExpr} <= kinds:
            # `:=` binds a name of the lambda around it.
            self._is_plain = False
        self.names = _joined(statement, self._read, self._made, self._augmented) if self._is_plain else None

    def _note(self, node: ast.AST, local: frozenset[str]) -> None:
        if isinstance(node, ast.Name):
            if node.id not in local:
                (self._read if isinstance(node.ctx, ast.Load) else self._made).add(node.id)
        elif isinstance(node, ast.alias):
            self._made.add(node.asname or node.name.partition(".")[0])
            self._is_plain = self._is_plain and node.name != "*"
        elif isinstance(node, ast.stmt):
            self._is_plain = self._is_plain and isinstance(node, _PLAIN)
            if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                self._augmented.add(node.target.id)

    def _enter(self, node: ast.AST, local: frozenset[str]) -> None:
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                self._waiting += [(one, local) for one in value if isinstance(one, ast.AST)]
            elif isinstance(value, ast.AST) and not isinstance(value, _BARE):
                self._waiting.append((value, local))

    def _enter_comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp, local: frozenset[str]
    ) -> None:
        inner = local | {name for one in node.generators for name in bound_names(one.target)}
        # What is gone through first is found outside.
        self._waiting.append((node.generators[0].iter, local))
        for number, one in enumerate(node.generators):
            self.nodes.append(one)
            parts = [one.target, *one.ifs, *([one.iter] if number else ())]
            self._waiting += [(part, inner) for part in parts]
        values = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
        self._waiting += [(value, inner) for value in values]

    def _enter_lambda(self, node: ast.Lambda, local: frozenset[str]) -> None:
        given = node.args
        named = [*given.posonlyargs, *given.args, *given.kwonlyargs]
        named += [one for one in (given.vararg, given.kwarg) if one is not None]
        self.nodes += named
        self._waiting += [(one, local) for one in (*given.defaults, *given.kw_defaults) if one is not None]
        self._waiting.append((node.body, local | {one.arg for one in named}))


class _AsGenerators(ast.NodeTransformer):
    """Comprehensions as generators, which bind the same names: from Python 3.12 on the table of a module lists what its
    comprehensions bind for themselves."""

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        return self._generator(node, node.elt)

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:
        return self._generator(node, node.elt)

    def visit_DictComp(self, node: ast.DictComp) -> ast.AST:
        return self._generator(node, ast.Tuple(elts=[node.key, node.value], ctx=ast.Load()))

    def _generator(self, node: ast.ListComp | ast.SetComp | ast.DictComp, element: ast.expr) -> ast.AST:
        made = ast.GeneratorExp(elt=element, generators=node.generators)
        return ast.copy_location(self.generic_visit(made), node)


def table_names(statement: ast.stmt, nodes: list[ast.AST], text: str) -> CodeNames:
    """The names of any statement, as Python itself sees them."""
    if any(isinstance(node, _COMPREHENSIONS) for node in nodes):
        text = ast.unparse(_AsGenerators().visit(ast.parse(text)))
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
    for node in nodes:
        match node:
            case ast.AugAssign(target=ast.Name(id=name)):
                augmented.add(name)
            # A function may bind a name of the namespace by `global`, a comprehension one by `:=`.
            case ast.Global(names=names):
                made |= {*names}
            case ast.NamedExpr(target=ast.Name(id=name)):
                made.add(name)
    return _joined(statement, read, made, augmented)


def _joined(statement: ast.stmt, read: set[str], made: set[str], augmented: set[str]) -> CodeNames:
    # What a statement that holds others binds somewhere inside, and a function its own name, it need not find.
    inner = made - augmented if isinstance(statement, _HOLDING) else set()
    return CodeNames(read=frozenset((read - inner) | augmented), made=frozenset(made))


def _tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    yield table
    for child in table.get_children():
        yield from _tables(child)
