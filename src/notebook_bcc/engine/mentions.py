"""Which names of the namespace a cell uses. Pure."""

from __future__ import annotations

import ast
import re
import symtable
from collections.abc import Iterable

_WORD = re.compile(r"[^\W\d]\w*")
# What finds a variable by its name in a text.
_BY_TEXT = frozenset({"eval", "exec", "query", "globals", "locals", "vars", "get_ipython"})
_OWN_SCOPE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def mentioned(source: str) -> frozenset[str]:
    """The names that a cell needs from the cells before it, and rather one too many.

    One that the cell itself binds first, as the `f` of `with open(...) as f`, is not among them.
    """
    try:
        tree = ast.parse(source)
        table = symtable.symtable(source, "<cell>", "exec")
    except (SyntaxError, ValueError, RecursionError):
        # Magics, or no Python at all.
        return frozenset(_WORD.findall(source))
    needed = set(_needed_inside(table))
    bound: set[str] = set()
    for statement in tree.body:
        needed |= _used_first(statement) - bound
        bound |= _bound_by(statement)
    if _BY_TEXT & (set(_WORD.findall(source))):
        needed |= set(_WORD.findall(source))
    return frozenset(needed)


def _needed_inside(table: symtable.SymbolTable) -> Iterable[str]:
    """Globals of functions, classes and comprehensions: when they are looked up is not known."""
    for child in table.get_children():
        yield from (
            symbol.get_name() for symbol in child.get_symbols() if symbol.is_global() and symbol.is_referenced()
        )
        yield from _needed_inside(child)


def _used_first(statement: ast.stmt) -> set[str]:
    """The names that a statement uses before it binds them itself."""
    if isinstance(statement, ast.With | ast.AsyncWith):
        heads: list[ast.AST] = [item.context_expr for item in statement.items]
        own = _names([item.optional_vars for item in statement.items if item.optional_vars is not None], ast.Store)
    elif isinstance(statement, ast.For | ast.AsyncFor):
        heads, own = [statement.iter], _names([statement.target], ast.Store)
    else:
        return _names([statement], ast.Load, ast.Del)
    return _names(heads, ast.Load, ast.Del) | (
        _names(list(statement.body + getattr(statement, "orelse", [])), ast.Load, ast.Del) - own
    )


def _bound_by(statement: ast.stmt) -> set[str]:
    """The names that are bound once a statement has ended."""
    match statement:
        case ast.Assign() | ast.AnnAssign(value=ast.expr()):
            return _names([statement], ast.Store)
        case ast.With(items=items) | ast.AsyncWith(items=items):
            return _names([item.optional_vars for item in items if item.optional_vars is not None], ast.Store)
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return {(alias.asname or alias.name).partition(".")[0] for alias in names}
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case _:
            return set()


def _names(nodes: Iterable[ast.AST], *uses: type[ast.expr_context]) -> set[str]:
    found: set[str] = set()
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name):
            found |= {node.id} if isinstance(node.ctx, uses) else set()
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            found |= {node.target.id} | _names([node.value], *uses)
        elif isinstance(node, _COMPREHENSIONS):
            # All but its first iterable is in a scope of its own.
            waiting.append(node.generators[0].iter)
        elif isinstance(node, _OWN_SCOPE):
            waiting += _outside(node)
        else:
            waiting += ast.iter_child_nodes(node)
    return found


def _outside(node: ast.AST) -> list[ast.AST]:
    """What of a definition is looked up where it stands: decorators, defaults, bases."""
    inner = getattr(node, "body", [])
    own = set(map(id, inner if isinstance(inner, list) else [inner]))
    return [child for child in ast.iter_child_nodes(node) if id(child) not in own]
