"""What a model's cell may not do, found before it runs: change what later cells need, look at what is not for it, reach
out of the notebook. Pure: the code is read, never run.

A cell may make names of its own and do with them as it likes. What it did not make itself it may only read: no
assignment, no deletion, no item or attribute set, no call that changes it in place. What cannot be told is refused.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from notebook_bcc.llm.guard.ownership import Ownership, chain_root
from notebook_bcc.planners.code_names import Code, CodeNames, read_code

_PLOTTING_LINE: Final = re.compile(r"^[ \t]*%matplotlib\b.*$", re.MULTILINE)
_USUAL: Final = {"pandas": "pd", "numpy": "np", "matplotlib.pyplot": "plt", "seaborn": "sns", "scipy.stats": "stats"}
_MODULES: Final = frozenset(
    {
        "pandas", "numpy", "matplotlib", "seaborn", "scipy", "sklearn", "statsmodels", "math", "statistics",
        "collections", "itertools", "functools", "re", "string", "textwrap", "datetime", "warnings",
        "typing", "dataclasses", "calendar", "decimal", "fractions", "random", "json",
    }
)  # fmt: skip
_REFUSED: Final = frozenset(
    {
        "exec", "eval", "compile", "globals", "locals", "vars", "setattr", "delattr", "getattr", "open", "input",
        "breakpoint", "exit", "quit", "get_ipython", "__import__", "memoryview",
    }
)  # fmt: skip
_IN_PLACE: Final = frozenset(
    {
        "append", "extend", "insert", "remove", "pop", "popitem", "clear", "update", "setdefault", "sort", "reverse",
        "add", "discard", "fill", "put", "resize", "setflags", "itemset", "partition", "fit", "fit_transform",
        "fit_predict", "partial_fit", "set_params", "appendleft", "popleft", "rotate", "subtract",
    }
)  # fmt: skip
_SHUFFLING: Final = frozenset(
    {"put", "shuffle", "copyto", "place", "putmask", "fill_diagonal", "put_along_axis", "heapify", "heappush", "insort"}
)
# They change how a library works from there on, for every cell that follows.
_LASTING: Final = frozenset(
    {
        "set_config", "seterr", "set_option", "reset_option", "simplefilter", "resetwarnings", "switch_backend",
        "rcdefaults", "ioff", "register_matplotlib_converters",
    }
)  # fmt: skip
_HARMLESS_TO: Final = frozenset(
    {
        "to_string", "to_dict", "to_list", "to_numpy", "to_frame", "to_series", "to_markdown", "to_datetime",
        "to_numeric", "to_timedelta", "to_period", "to_timestamp", "to_flat_index", "to_rgba", "to_rgb", "to_hex",
    }
)  # fmt: skip
_LASTING_OR_REFUSED: Final = _LASTING | _REFUSED
_FILES: Final = re.compile(r"read_\w+|to_[a-z]\w*|save\w*|load\w*|fetch_\w+|dump\w*|tofile|fromfile|genfromtxt|imread")


@dataclass(frozen=True, slots=True)
class Lent:
    """What the base planner's own cells of a behavior do: a model's may do it too. `names` are those that they find."""

    names: frozenset[str] = frozenset()
    modules: frozenset[str] = frozenset()
    attributes: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Guardrails:
    """Between what a cell has to stay. `kept` may not be changed; of them only `readable` may be read.

    `known` are all names that can exist; None: that is not known, and whatever is read may be. `own` are names that
    the model made for this behavior before.
    """

    kept: frozenset[str] = frozenset()
    readable: frozenset[str] | None = None
    known: frozenset[str] | None = None
    own: frozenset[str] = frozenset()
    lent: Lent = Lent()


def lent_by(sources: tuple[str, ...]) -> Lent:
    """What these cells do. One that is no Python lends nothing."""
    names: set[str] = set()
    made: set[str] = set()
    modules: set[str] = set()
    attributes: set[str] = set()
    texts: set[str] = set()
    for source in sources:
        try:
            code = read_code(plain_python(source))
        except SyntaxError:
            continue
        names |= code.names.read - made
        made |= code.names.made
        modules |= {module for module, _ in _imports(code)}
        attributes |= {node.attr for node in code.nodes if isinstance(node, ast.Attribute)}
        texts |= {node.value for node in code.nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return Lent(frozenset(names), frozenset(modules), frozenset(attributes), frozenset(texts))


def with_made(guardrails: Guardrails, source: str) -> Guardrails:
    """The guardrails of the cells that follow this one: what it made may be read and changed."""
    try:
        made = read_code(plain_python(source)).names.made - guardrails.kept
    except SyntaxError:
        return guardrails
    known = None if guardrails.known is None else guardrails.known | made
    return replace(guardrails, own=guardrails.own | made, known=known)


def plain_python(source: str) -> str:
    """The source without the line that notebooks begin figures with, which needs no leave."""
    return _PLOTTING_LINE.sub("", source)


def objection(source: str, guardrails: Guardrails) -> str:
    """Why this cell is not run; empty: it may be."""
    try:
        code = read_code(plain_python(source))
    except (SyntaxError, ValueError, RecursionError) as error:
        where = f" in line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        return f"the code is no Python: {getattr(error, 'msg', error)}{where}"
    return next(_objections(code, guardrails), "")


def _objections(code: Code, guardrails: Guardrails) -> Iterator[str]:
    imports = list(_imports(code))
    yield from (
        f"the module {module} is not to be used here"
        for module, _ in imports
        if module.partition(".")[0] not in _MODULES and module not in guardrails.lent.modules
    )
    usual = {alias for module, alias in imports if _USUAL.get(module) == alias}
    changed = sorted((code.names.made - usual) & guardrails.kept)
    if changed:
        yield f"{changed[0]} is needed by later cells and must not be changed: give your result another name"
    yield from _unreadable(code.names, guardrails, frozenset(alias for _, alias in imports))
    owned = Ownership.of(code.nodes, earlier=guardrails.own)
    for node in code.nodes:
        look = _LOOKED_AT.get(type(node))
        if look is not None and (found := look(node, owned, guardrails)):
            yield found


def _unreadable(names: CodeNames, guardrails: Guardrails, imported: frozenset[str]) -> Iterator[str]:
    read = names.read - guardrails.own - imported
    if guardrails.readable is not None:
        for name in sorted((read & guardrails.kept) - guardrails.readable):
            yield f"{name} is not for this behavior: use only the variables that are listed"
    if guardrails.known is not None:
        for name in sorted(read - guardrails.known - frozenset(_USUAL.values())):
            yield f"there is no variable {name}: use only the variables that are listed"


def _of_declaration(_node: ast.Global | ast.Nonlocal, _owned: Ownership, _guardrails: Guardrails) -> str:
    return "names of the notebook must not be declared global"


def _of_while(_node: ast.While, _owned: Ownership, _guardrails: Guardrails) -> str:
    return "a while loop may never end: use for"


def _of_name(node: ast.Name, _owned: Ownership, _guardrails: Guardrails) -> str:
    return f"{node.id} is not to be used here" if node.id in _LASTING_OR_REFUSED else ""


def _of_attribute(node: ast.Attribute, owned: Ownership, guardrails: Guardrails) -> str:
    name, receiver = node.attr, node.value
    if name.startswith("__") or name in _LASTING:
        return f"{name} is not to be used here"
    if not isinstance(node.ctx, ast.Load):
        return _of_item(node, owned, guardrails)
    if name in _IN_PLACE and not owned.is_own(receiver) and not owned.is_module(receiver):
        return f"{name} would change {_shown(receiver)}, which is not yours: copy it first, under another name"
    return ""


def _of_item(node: ast.Attribute | ast.Subscript, owned: Ownership, _guardrails: Guardrails) -> str:
    if isinstance(node.ctx, ast.Load) or owned.is_own(node.value):
        return ""
    return f"{_shown(node.value)} is not yours to change: take a copy first, under another name"


def _of_addition(node: ast.AugAssign, owned: Ownership, _guardrails: Guardrails) -> str:
    if not isinstance(node.target, ast.Name) or owned.is_own(node.target):
        return ""
    return f"{node.target.id} is not yours to change: take the result under another name"


def _of_call(call: ast.Call, owned: Ownership, guardrails: Guardrails) -> str:
    receiver = call.func.value if isinstance(call.func, ast.Attribute) else None
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if call.keywords and (found := _of_options(call, receiver, owned)):
        return found
    if not name:
        return ""
    if name == "use" and isinstance(receiver, ast.Name) and receiver.id in ("matplotlib", "mpl"):
        return "the way figures are drawn is not to be changed"
    if name == "filterwarnings" and not any(
        isinstance(one, ast.Constant) and one.value == "ignore" for one in call.args
    ):
        return "warnings are not to become errors"
    if name in _SHUFFLING:
        return f"{name} changes what it is given: do without"
    if _FILES.fullmatch(name) and name not in _HARMLESS_TO:
        return next(_of_file(call, name, guardrails.lent), "")
    return ""


def _of_options(call: ast.Call, receiver: ast.expr | None, owned: Ownership) -> str:
    options = {one.arg: one.value for one in call.keywords}
    in_place = options.get("inplace")
    if None in options and not _is_own(receiver, owned):
        return "options by ** are not to be used here"
    if "out" in options or (in_place is not None and not _is_false(in_place) and not _is_own(receiver, owned)):
        return f"{_shown(receiver)} is not yours to change in place: take the result under another name"
    return ""


def _of_file(call: ast.Call, name: str, lent: Lent) -> Iterator[str]:
    """Files are read and written only as the base planner's own cell would."""
    if name not in lent.attributes:
        yield f"{name} reads or writes a file, which this behavior does not ask for"
        return
    for value in [*call.args, *(one.value for one in call.keywords)]:
        if isinstance(value, ast.Constant) and isinstance(value.value, str) and value.value not in lent.texts:
            if re.search(r"[./\\]", value.value):
                yield f"the file {value.value!r} is not one that this behavior asks for"
        elif isinstance(value, ast.JoinedStr):
            yield "the name of a file must be written out"


def _imports(code: Code) -> Iterator[tuple[str, str]]:
    """Each module that is imported, with the name it gets here."""
    for node in code.nodes:
        if isinstance(node, ast.Import):
            yield from ((one.name, one.asname or one.name.partition(".")[0]) for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or "."
            for one in node.names:
                # `from matplotlib import pyplot as plt` is the same as the usual import.
                whole = f"{module}.{one.name}"
                yield (whole if whole in _USUAL else module, one.asname or one.name)


def _is_own(receiver: ast.expr | None, owned: Ownership) -> bool:
    return receiver is not None and owned.is_own(receiver)


def _is_false(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is False


def _shown(node: ast.expr | None) -> str:
    return (chain_root(node) or "this") if node is not None else "this"


# By kind: most of what is in a cell is none of these, and a cell that is to run waits. Any: each takes its own kind.
_LOOKED_AT: Final[dict[type[ast.AST], Callable[[Any, Ownership, Guardrails], str]]] = {
    ast.Global: _of_declaration,
    ast.Nonlocal: _of_declaration,
    ast.While: _of_while,
    ast.Name: _of_name,
    ast.Attribute: _of_attribute,
    ast.Subscript: _of_item,
    ast.AugAssign: _of_addition,
    ast.Call: _of_call,
}
