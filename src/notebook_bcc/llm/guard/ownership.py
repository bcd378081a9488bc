"""Which names of a cell stand for something that the cell made itself, and not for something it found. Pure.

A name is the cell's own when everything that is ever bound to it is new: a literal, a calculation, the result of a call
that makes something. Another name for what was there before is not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from notebook_bcc.planners.code_names import bound_names

# They hand out what they were given, or a part of it.
_HANDING_ON: Final = frozenset(
    {
        "get", "setdefault", "pop", "popitem", "values", "items", "pipe", "view", "ravel", "reshape", "squeeze",
        "asarray", "to_numpy", "atleast_1d", "atleast_2d", "transpose", "swapaxes", "next", "iter", "max", "min",
        "reduce", "choice", "itemgetter", "broadcast_to", "diagonal",
    }
)  # fmt: skip
_USUAL_MODULES: Final = frozenset({"pd", "np", "plt", "sns"})
# Ways to a part of a table: to set through them is to set the table.
_INSIDE: Final = frozenset({"loc", "iloc", "at", "iat"})
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
_IMPORTS: Final = (ast.Import, ast.ImportFrom)
# All kinds that `_bound` tells apart: to ask it about the others takes longer than all the rest.
_BINDING: Final = frozenset(
    {
        ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.For, ast.AsyncFor, ast.comprehension, ast.With, ast.AsyncWith,
        ast.arg,
    }
)  # fmt: skip
# Whatever is in them, they are new: most of what is bound in a cell.
_MADE_HERE: Final = frozenset(
    {
        ast.Constant, ast.JoinedStr, ast.BinOp, ast.UnaryOp, ast.Compare, ast.List, ast.Dict, ast.Set, ast.ListComp,
        ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda,
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Ownership:
    """What of a cell is its own. `modules` are names of imports."""

    own: frozenset[str]
    modules: frozenset[str]

    @classmethod
    def of(cls, nodes: Sequence[ast.AST], *, earlier: frozenset[str] = frozenset()) -> Ownership:
        """The names of a cell; `earlier` were made by cells before it that are its own too."""
        functions = {node.name for node in nodes if isinstance(node, _FUNCTIONS)}
        modules = {
            one.asname or one.name.partition(".")[0]
            for node in nodes
            if isinstance(node, _IMPORTS)
            for one in node.names
        }
        bound = [pair for node in nodes if type(node) in _BINDING for pair in _bound(node)]
        own = set(earlier)
        # A name may be made from one that is found to be own only in a later round.
        for _ in range(len(bound) + 2):
            fresh = {name for name, value in bound if value is not None and _is_new(value, own, functions)}
            stale = {name for name, value in bound if value is None or not _is_new(value, own | fresh, functions)}
            before, own = own, (own | fresh) - stale
            if own == before:
                break
        return cls(frozenset(own), frozenset(modules | _USUAL_MODULES))

    def is_own(self, node: ast.expr) -> bool:
        """Whether what this stands for may be changed: a name of its own, or a call that has just made it."""
        match node:
            case ast.Name(id=name):
                return name in self.own
            case ast.Attribute(value=inner, attr=way) if way in _INSIDE:
                return self.is_own(inner)
            case ast.Call():
                return _is_new(node, set(self.own), set())
            case _:
                return False

    def is_module(self, node: ast.expr) -> bool:
        """Whether a call of this is a function of a module, not a method."""
        return isinstance(node, ast.Name) and node.id in self.modules and node.id not in self.own


def chain_root(node: ast.expr) -> str:
    """The name at the beginning of `a.b[c].d`; empty where it begins with something else."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _bound(node: ast.AST) -> Iterator[tuple[str, ast.expr | None]]:
    """Every name that is bound here, with what it is bound to; None: something that was found."""
    match node:
        case ast.Assign(targets=targets, value=value):
            yield from ((name, value) for target in targets for name in bound_names(target))
        case ast.AnnAssign(target=target, value=value) if value is not None:
            yield from ((name, value) for name in bound_names(target))
        case ast.NamedExpr(target=ast.Name(id=name), value=value):
            yield name, value
        case ast.For(target=target) | ast.AsyncFor(target=target) | ast.comprehension(target=target):
            yield from ((name, None) for name in bound_names(target))
        case ast.With(items=items) | ast.AsyncWith(items=items):
            for item in items:
                if item.optional_vars is not None:
                    yield from ((name, item.context_expr) for name in bound_names(item.optional_vars))
        case ast.arg(arg=name):
            yield name, None


def _is_new(value: ast.expr, own: set[str], functions: set[str]) -> bool:
    if type(value) in _MADE_HERE:
        return True
    match value:
        case ast.Name(id=name):
            return name in own
        case ast.IfExp(body=body, orelse=other):
            return _is_new(body, own, functions) and _is_new(other, own, functions)
        case ast.BoolOp(values=values):
            return all(_is_new(one, own, functions) for one in values)
        case ast.NamedExpr(value=inner) | ast.Starred(value=inner) | ast.Await(value=inner):
            return _is_new(inner, own, functions)
        case ast.Subscript(slice=ast.List()):
            # A table of these columns: a copy.
            return True
        case ast.Attribute() | ast.Subscript():
            return False
        case ast.Call(func=ast.Name(id=name)):
            return name not in _HANDING_ON and name not in functions and name not in own
        case ast.Call(func=ast.Attribute(attr=name)):
            return name not in _HANDING_ON
        case ast.Call():
            return False
        case ast.Tuple(elts=elements):
            return all(_is_new(one, own, functions) for one in elements)
        case _:
            return True
