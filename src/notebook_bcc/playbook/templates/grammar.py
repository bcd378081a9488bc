"""Which parts of the Jinja language a playbook may use, and what a text reads."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jinja2 import Environment, nodes
from jinja2.parser import Parser
from jinja2.visitor import NodeTransformer

# No template can write these names: they have a space in them.
EACH = "each of"
JOINED = "joined text"
COMPARED = "compared words"
_OURS = frozenset({EACH, JOINED, COMPARED})
RESULT = "result"
FACTS = (
    *("v", "inputs", "goal", "asked", "lang", "effects"),
    *("errors", "missing", "steps_done", "stages_done", "has_model"),
)
# What an action with `each` is written for; a loop of a template may use the name as well.
ITEM = "item"
DEEPEST_LOOPS = 3
# What Python compiles without running out of its stack.
_DEEPEST = 150

_ALLOWED: tuple[type[nodes.Node], ...] = (
    *(nodes.Template, nodes.Output, nodes.TemplateData, nodes.If, nodes.For, nodes.Assign, nodes.Operand),
    *(nodes.Name, nodes.Const, nodes.Tuple, nodes.List, nodes.Dict, nodes.Pair, nodes.Keyword, nodes.Slice),
    *(nodes.Getattr, nodes.Getitem, nodes.Compare, nodes.And, nodes.Or, nodes.Not, nodes.Neg, nodes.Pos),
    *(nodes.Add, nodes.Sub, nodes.Mul, nodes.Div, nodes.FloorDiv, nodes.Concat, nodes.CondExpr),
    *(nodes.Filter, nodes.Test),
)
_WORDS: dict[type[nodes.Node], str] = {
    nodes.Call: "nothing can be called; use a filter: {{ x | num }}",
    nodes.Pow: "'**' is not allowed",
    nodes.Mod: "'%' is not allowed; use the tests even and odd",
    nodes.NSRef: "there are no namespaces",
}


@dataclass(frozen=True, slots=True)
class Reads:
    """What a text asks of the facts: names of `v`, each with its line; `whole` when it cannot be told which.

    `through` are the names that the conditions in it ask for. `facts` are the other facts, such as `effects`.
    `optional` are names that it can do without: it asks whether they are defined, or has a default for them.
    """

    variables: tuple[tuple[str, int], ...] = ()
    whole: bool = False
    through: frozenset[str] = frozenset()
    facts: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()

    @property
    def names(self) -> frozenset[str]:
        return self.through.union(name for name, _ in self.variables)

    @property
    def required(self) -> frozenset[str]:
        """The names that it cannot do without."""
        return self.names - self.optional


def rule(environment: Environment, source: str) -> nodes.Template:
    """An expression, as a template that only says what it is. Raises TemplateSyntaxError."""
    parser = Parser(environment, source, state="variable")
    expression = parser.parse_expression()
    if not parser.stream.eos:
        parser.fail("a rule is one expression", parser.stream.current.lineno)
    body: list[nodes.Node] = [nodes.Assign(nodes.Name(RESULT, "store", lineno=1), expression, lineno=1)]
    tree = nodes.Template(body, lineno=1)
    tree.set_environment(environment)
    return tree


def nodes_of(tree: nodes.Template) -> list[nodes.Node]:
    """Every node, in the order of the text; without recursion, since a tree may be deeper than Python's stack."""
    found: list[nodes.Node] = []
    waiting: list[nodes.Node] = [tree]
    while waiting:
        node = waiting.pop()
        found.append(node)
        waiting.extend(reversed(list(node.iter_child_nodes())))
    return found


def problems(
    found: Sequence[nodes.Node], environment: Environment, *, conditions: frozenset[str] = frozenset()
) -> Iterator[tuple[int, str]]:
    """Everything among the nodes of a tree that is not allowed, with its line. `conditions` are names it may use."""
    strange = [each for node in found for each in _strange(node, environment)]
    if strange:
        yield from strange
        return
    names = [node for node in found if isinstance(node, nodes.Name)]
    known = {*FACTS, *conditions, ITEM, "loop", *(node.name for node in names if node.ctx == "store")}
    for node in names:
        yield from _name(node, known)
    yield from _deep(found[0])


def _strange(node: nodes.Node, environment: Environment) -> Iterator[tuple[int, str]]:
    if not isinstance(node, _ALLOWED):
        # A scope that the parser puts around a block has no line of its own.
        yield node.lineno or 1, _WORDS.get(type(node), f"'{type(node).__name__.lower()}' is not allowed in a playbook")
    elif isinstance(node, nodes.Filter | nodes.Test):
        yield from _known(node, environment)
    elif isinstance(node, nodes.For) and node.recursive:
        yield node.lineno, "a loop cannot be recursive"


def reads(found: Sequence[nodes.Node]) -> Reads:
    """Which variables of `v` the nodes of a tree name."""
    variables: list[tuple[str, int]] = []
    named: set[int] = set()
    for node in found:
        if isinstance(node, nodes.Getattr) and _is_v(node.node):
            variables.append((node.attr, node.lineno))
            named.add(id(node.node))
        elif isinstance(node, nodes.Getitem) and _is_v(node.node) and _text(node.arg) is not None:
            variables.append((_text(node.arg) or "", node.lineno))
            named.add(id(node.node))
        elif isinstance(node, nodes.Compare) and _text(node.expr) is not None:
            inside = [op.expr for op in node.ops if op.op in ("in", "notin") and _is_v(op.expr)]
            variables += [(_text(node.expr) or "", node.lineno) for _ in inside]
            named |= {id(each) for each in inside}
    whole = any(_is_v(node) and id(node) not in named for node in found)
    names = [node for node in found if isinstance(node, nodes.Name)]
    own = {node.name for node in names if node.ctx == "store"}
    facts = frozenset(node.name for node in names if node.name in {*FACTS, ITEM} - own) - {"v"}
    return Reads(tuple(dict.fromkeys(variables)), whole, facts=facts, optional=_optional(found))


def _optional(found: Sequence[nodes.Node]) -> frozenset[str]:
    asked = [node.node for node in found if isinstance(node, nodes.Test) and node.name == "defined"]
    asked += [node.node for node in found if isinstance(node, nodes.Filter) and node.name == "default" and node.node]
    return frozenset(node.attr for node in asked if isinstance(node, nodes.Getattr) and _is_v(node.node))


def used(found: Sequence[nodes.Node], conditions: frozenset[str]) -> frozenset[str]:
    """Which of the conditions the nodes of a tree name."""
    return conditions.intersection(node.name for node in found if isinstance(node, nodes.Name))


def loops_checked(tree: nodes.Template) -> nodes.Template:
    """The tree with what each loop goes through passed to the filter EACH: a text would be taken letter by letter."""
    for loop in tree.find_all(nodes.For):
        assert isinstance(loop.iter, nodes.Expr)
        loop.iter = nodes.Filter(loop.iter, EACH, [], [], None, None, lineno=loop.lineno, environment=loop.environment)
    return tree


class _Joins(NodeTransformer):
    def visit_Concat(self, node: nodes.Concat) -> nodes.Filter:
        self.generic_visit(node)
        parts = nodes.List(node.nodes, lineno=node.lineno)
        return nodes.Filter(parts, JOINED, [], [], None, None, lineno=node.lineno)


def joins_traced(tree: nodes.Template) -> nodes.Template:
    """The tree with the filter JOINED for every `~`: Jinja's own would forget where the parts came from."""
    changed = _Joins().visit(tree)
    assert isinstance(changed, nodes.Template)
    return changed


def _name(node: nodes.Name, known: set[str]) -> Iterator[tuple[int, str]]:
    if node.ctx == "load" and node.name not in known:
        close = difflib.get_close_matches(node.name, FACTS, 1)
        hint = f"did you mean {close[0]!r}?" if close else f"v.{node.name} is the variable; known: {', '.join(FACTS)}"
        yield node.lineno, f"nothing is called {node.name!r}; {hint}"
    elif node.ctx == "store" and node.name in FACTS:
        yield node.lineno, f"{node.name!r} is what the run knows; choose another name"
    elif node.name.startswith("_"):
        yield node.lineno, f"{node.name!r}: names do not begin with '_'"


def _known(node: nodes.Filter | nodes.Test, environment: Environment) -> Iterator[tuple[int, str]]:
    what, known = ("filter", environment.filters) if isinstance(node, nodes.Filter) else ("test", environment.tests)
    if node.dyn_args is not None or node.dyn_kwargs is not None:
        yield node.lineno, f"the options of the {what} {node.name!r} are written one by one"
    if node.name not in known or node.name in _OURS:
        close = difflib.get_close_matches(node.name, known, 1)
        rest = f"did you mean {close[0]!r}?" if close else f"known here: {', '.join(sorted({*known} - _OURS))}"
        yield node.lineno, f"there is no {what} {node.name!r}; {rest}"


def _deep(tree: nodes.Node) -> Iterator[tuple[int, str]]:
    waiting = [(tree, 0, 0)]
    while waiting:
        node, depth, loops = waiting.pop()
        loops += isinstance(node, nodes.For)
        if loops > DEEPEST_LOOPS:
            yield node.lineno, f"more than {DEEPEST_LOOPS} loops are nested here"
            return
        if depth > _DEEPEST:
            yield node.lineno, "this is nested too deeply"
            return
        waiting += [(child, depth + 1, loops) for child in node.iter_child_nodes()]


def _is_v(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Name) and node.name == "v" and node.ctx == "load"


def _text(node: nodes.Node) -> str | None:
    return node.value if isinstance(node, nodes.Const) and isinstance(node.value, str) else None
