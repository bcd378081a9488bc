"""Rules and templates: a closed part of the Jinja language that can only read. The adapter for jinja2.

What a file may say is decided twice: `grammar` lets only known nodes through before anything is compiled, and the
environment below has no globals, no attributes of Python objects and no calls.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import TracebackType
from typing import Any, NoReturn

import jinja2
from jinja2 import nodes
from jinja2.runtime import Context, LoopContext
from jinja2.sandbox import ImmutableSandboxedEnvironment

from notebook_bcc.errors import FactsMissing, MessageInvalid
from notebook_bcc.playbook.templates import filters, grammar
from notebook_bcc.playbook.templates.comparatives import comparatives_marked
from notebook_bcc.playbook.templates.grammar import Reads
from notebook_bcc.playbook.templates.placing import HOLE, Written, place_in_cell, place_in_prose, place_plainly
from notebook_bcc.playbook.templates.tracing import Comparative, derived, operand, source_of

LONGEST_TEMPLATE = 100_000
LONGEST_RULE = 2_000
MOST_OUTPUT = 200_000
_LARGEST_NUMBER_BITS = 1_024
_MOST_JOINED = 100_000
_RENDERING = f"{HOLE}rendering"
_LOOP = frozenset({"index", "index0", "revindex", "first", "last", "length"})
_STATEMENT = re.compile(r"^([ \t]*)#%(.*)$", re.MULTILINE)
# Among the facts, and not for templates: the variables that are known by a summary only, for each fact made of them.
SUMMARIZED = "summarized"
_FAILURES = (jinja2.TemplateError, ValueError, TypeError, ArithmeticError, LookupError, RecursionError)

# Any, throughout: values of the observation, which may be whatever JSON can hold.
Facts = Mapping[str, Any]


class Kind(StrEnum):
    """What a text becomes: the source of a cell, Markdown, one plain line, or a value to go by."""

    CELL = "cell"
    PROSE = "prose"
    PLAIN = "plain"
    RULE = "rule"


@dataclass(slots=True)
class _Rendering:
    """The values that wait for their place. One for each rendering."""

    lang: str
    values: list[Any] = field(default_factory=list)


class _Empty(jinja2.ChainableUndefined):
    """What does not exist, in a rule: empty, false, and neither more nor less than anything."""

    __slots__ = ()

    def _no(self, other: object) -> bool:
        return False

    __lt__ = __le__ = __gt__ = __ge__ = _no  # type: ignore[assignment]
    __hash__ = jinja2.ChainableUndefined.__hash__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, jinja2.Undefined)


class _Environment(ImmutableSandboxedEnvironment):
    """Reads mappings, lists and texts, and nothing of the Python objects behind them."""

    intercepted_binops = frozenset({"+", "-", "*", "/", "//"})
    intercepted_unops = frozenset({"-", "+"})

    def getattr(self, obj: Any, attribute: str) -> Any:
        if isinstance(obj, LoopContext) and attribute in _LOOP:
            return getattr(obj, attribute)
        return self.getitem(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        if isinstance(obj, jinja2.Undefined):
            if isinstance(obj, _Empty):
                return obj
            _undefined(obj)
        if isinstance(obj, dict) and isinstance(argument, str | int | float) and argument in obj:
            return obj[argument]
        if isinstance(obj, list | tuple | str) and isinstance(argument, int) and -len(obj) <= argument < len(obj):
            return obj[argument]
        return self.undefined(hint=f"there is no {argument!r} here")

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> NoReturn:
        raise ValueError("nothing can be called here")

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        for side in (left, right):
            if isinstance(side, _Empty):
                return side
            if isinstance(side, jinja2.Undefined):
                _undefined(side)
        if operator == "+" and any(isinstance(left, kind) and isinstance(right, kind) for kind in (list, tuple, str)):
            if len(left) + len(right) > _MOST_JOINED:
                raise ValueError(f"the sum has more than {_MOST_JOINED} items or characters")
        elif not (_is_number(left) and _is_number(right)):
            raise ValueError(f"'{operator}' needs two numbers; '~' joins texts")
        result = self.binop_table[operator](left, right)
        if isinstance(result, int) and result.bit_length() > _LARGEST_NUMBER_BITS:
            raise ValueError("the number is too large")
        return _computed(result, f"{operand(left)} {operator} {operand(right)}", left, right)

    def call_unop(self, context: Context, operator: str, arg: Any) -> Any:
        if isinstance(arg, _Empty):
            return arg
        if not _is_number(arg):
            raise ValueError(f"'{operator}' needs a number")
        return _computed(self.unop_table[operator](arg), f"{operator}{operand(arg)}", arg)


@dataclass(frozen=True)
class _Program:
    """A checked tree, compiled when it is first used: of a playbook a run uses few texts, and one language."""

    environment: jinja2.Environment
    tree: nodes.Template
    at: str
    is_text: bool

    @functools.cached_property
    def compiled(self) -> jinja2.Template:
        tree = grammar.loops_checked(self.tree)
        if self.is_text:
            tree = comparatives_marked(grammar.joins_traced(tree))
            tree.set_environment(self.environment)
        code = self.environment.compile(tree, name=self.at, filename=self.at)
        return self.environment.template_class.from_code(self.environment, code, {})


@dataclass(frozen=True, slots=True)
class Template:
    """A text that was read and found sound. `reads` is what it asks of the facts."""

    kind: Kind
    at: str
    line: int
    source: str
    reads: Reads
    _program: _Program = field(repr=False)
    # Named rules that a rule uses: each is asked once, of the same facts.
    conditions: Mapping[str, Template] = field(default_factory=dict)

    def render(self, facts: Facts) -> str:
        """The finished text. Raises MessageInvalid with file and line: FactsMissing where variables are missing."""
        return self.written(facts).text

    def written(self, facts: Facts) -> Written:
        """The finished text with a note for each number that came from traced facts. Raises as `render` does."""
        self._check_known(facts)
        rendering = self._rendering(facts)
        pieces: list[str] = []
        size = 0
        try:
            for piece in self._program.compiled.root_render_func(self._context(facts, rendering)):
                pieces.append(piece)
                size += len(piece)
                if size > MOST_OUTPUT:
                    raise ValueError(f"it becomes longer than {MOST_OUTPUT} characters")
            finished = _PLACES[self.kind]("".join(pieces), rendering.values)
        except _FAILURES as error:
            raise self._failed(error, facts) from error
        if len(finished.text) > MOST_OUTPUT:
            raise self._failed(ValueError(f"it becomes longer than {MOST_OUTPUT} characters"), facts)
        return finished

    def value(self, facts: Facts) -> Any:
        """What the rule says; what does not exist is None. Raises MessageInvalid with file and line, FactsMissing where
        only a summary is known."""
        self._check_known(facts)
        context = self._context(facts, self._rendering(facts))
        try:
            for _ in self._program.compiled.root_render_func(context):
                pass
            found = context.vars[grammar.RESULT]
        except _FAILURES as error:
            raise self._failed(error, facts) from error
        return None if isinstance(found, jinja2.Undefined) else found

    def holds(self, facts: Facts) -> bool:
        """Whether the rule is true of these facts."""
        return bool(self.value(facts))

    def _check_known(self, facts: Facts) -> None:
        """A summary is not the value: going by it would be a guess."""
        hidden: Mapping[str, frozenset[str]] = facts.get(SUMMARIZED) or {}
        values = hidden.get("v", frozenset())
        found = values if self.reads.whole else values & self.reads.names
        names = sorted(found.union(*(hidden[fact] for fact in self.reads.facts - {"v"} if fact in hidden)))
        if names:
            problem = f"only a summary is known of {', '.join(names)}"
            raise FactsMissing(what=self.at, problems=[(f"line {self.line}", problem)], names=names)

    def _rendering(self, facts: Facts) -> _Rendering:
        lang = facts.get("lang")
        return _Rendering(lang if isinstance(lang, str) else "en")

    def _context(self, facts: Facts, rendering: _Rendering) -> Context:
        found = {name: each.value(facts) for name, each in self.conditions.items()}
        return self._program.compiled.new_context({**facts, **found, _RENDERING: rendering})

    def _failed(self, error: BaseException, facts: Facts) -> MessageInvalid:
        line = _line_of(error.__traceback__, self._program.compiled)
        message = error.message if isinstance(error, jinja2.TemplateError) else str(error)
        where = f"line {self.line + line - 1}" if line else ""
        problems = [(where, message or type(error).__name__)]
        missing = sorted(self.reads.names - set(facts.get("v") or ()))
        if isinstance(error, jinja2.UndefinedError) and missing:
            return FactsMissing(what=self.at, problems=problems, names=missing)
        return MessageInvalid(what=self.at, problems=problems)


class Templates:
    """Reads rules and templates."""

    def read(
        self, source: str, *, kind: Kind, at: str, line: int = 1, conditions: Mapping[str, Template] | None = None
    ) -> Template:
        """Read a template or rule. `at` and `line` are where messages say it stands. Raises MessageInvalid.

        `conditions` are rules that it may use by their names.
        """
        template, used = _read(source, kind, at, line, frozenset(conditions or ()))
        if not conditions or not used:
            return template
        reads = [conditions[name].reads for name in used]
        through = frozenset(name for each in reads for name in each.names)
        whole = template.reads.whole or any(each.whole for each in reads)
        facts = template.reads.facts.union(*(each.facts for each in reads))
        optional = template.reads.optional.union(*(each.optional for each in reads))
        return replace(
            template,
            reads=replace(template.reads, through=through, whole=whole, facts=facts, optional=optional),
            conditions={name: conditions[name] for name in sorted(used)},
        )


# A run reads its playbook twice, when it is chosen and from the run's own copy: parsing is most of the work.
@functools.lru_cache(maxsize=8192)
def _read(source: str, kind: Kind, at: str, line: int, conditions: frozenset[str]) -> tuple[Template, frozenset[str]]:
    """The template, and which of the conditions it uses."""
    environment = _environment(kind)
    most = LONGEST_RULE if kind is Kind.RULE else LONGEST_TEMPLATE
    try:
        if len(source) > most:
            raise ValueError(f"it has more than {most} characters")
        if HOLE in source:
            raise ValueError("it holds the character NUL")
        tree = grammar.rule(environment, source) if kind is Kind.RULE else environment.parse(_blocks(source, kind))
        found = grammar.nodes_of(tree)
        problems = list(grammar.problems(found, environment, conditions=conditions))
        reads = grammar.reads(found)
    except jinja2.TemplateSyntaxError as error:
        raise _refused(at, [(line + error.lineno - 1, error.message or "this cannot be parsed")]) from error
    except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
        raise _refused(at, [(line, str(error) or "it is nested too deeply")]) from error
    if problems:
        raise _refused(at, [(line + number - 1, problem) for number, problem in problems])
    program = _Program(environment, tree, at, is_text=kind in (Kind.PROSE, Kind.PLAIN))
    template = Template(kind=kind, at=at, line=line, source=source, reads=reads, _program=program)
    return template, grammar.used(found, conditions)


def _blocks(source: str, kind: Kind) -> str:
    """The source with its statement lines as blocks: Jinja's own line statements would eat the blank lines behind."""
    source = _STATEMENT.sub(_tagged, source) if kind is Kind.CELL else source
    return "\n".join(map(_still_a_line, source.split("\n")))


def _tagged(statement: re.Match[str]) -> str:
    inside = statement[2].rstrip(" \t").removesuffix(":")
    return f"{statement[1]}{{%{inside} %}}"


def _still_a_line(line: str) -> str:
    """A line of text that ends with a block, marked so that the block does not take the end of the line along."""
    text = line.rstrip()
    if not text.endswith("%}") or text.endswith(("-%}", "+%}")):
        return line
    first, *blocks = text.split("{%")
    beside = first + "".join(block.partition("%}")[2] for block in blocks)
    return f"{text[:-2]}+%}}" if beside.strip() else line


def _refused(at: str, problems: list[tuple[int, str]]) -> MessageInvalid:
    return MessageInvalid(what=at, problems=[(f"line {number}", problem) for number, problem in problems])


@functools.cache
def _environment(kind: Kind) -> _Environment:
    environment = _Environment(
        autoescape=False,
        undefined=_Empty if kind is Kind.RULE else jinja2.StrictUndefined,
        finalize=None if kind is Kind.RULE else _hole,
        trim_blocks=True,
        lstrip_blocks=True,
        cache_size=0,
    )
    environment.globals.clear()
    extra = {Kind.CELL: filters.CELL_ONLY, Kind.PROSE: filters.TEXT_ONLY, Kind.PLAIN: filters.TEXT_ONLY}.get(kind, {})
    environment.filters = {name: _filter(name, each) for name, each in {**filters.SHARED, **extra}.items()}
    environment.filters |= {grammar.EACH: _each, grammar.JOINED: _joined, grammar.COMPARED: _compared}
    environment.tests = {**filters.TESTS, "defined": _is_defined}
    return environment


@jinja2.pass_context
def _hole(context: Context, value: Any) -> str:
    """Where a value is to stand; which value is kept until its place is known."""
    if isinstance(value, jinja2.Undefined):
        _undefined(value)
    rendering = _rendering(context)
    rendering.values.append(value)
    return f"{HOLE}{len(rendering.values) - 1}{HOLE}"


def _filter(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @jinja2.pass_context
    def filtered(context: Context, value: Any, *args: Any, **options: Any) -> Any:
        if isinstance(value, jinja2.Undefined):
            return _of_nothing(name, value, args)
        for each in (value, *args, *options.values()):
            if isinstance(each, jinja2.Undefined):
                _undefined(each)
        if name in filters.WITH_LANGUAGE:
            options = {**options, "lang": _rendering(context).lang}
        found = function(value, *args, **options)
        if not source_of(value, *args):
            return found
        return derived(found, source_of(value) if name in filters.AS_SHOWN else _applied(name, value, args))

    return filtered


def _applied(name: str, value: Any, args: tuple[Any, ...]) -> str:
    """A filter as a rule would write it."""
    options = f"({', '.join(operand(each) for each in args)})" if args else ""
    return f"{operand(value)} | {name}{options}"


def _computed(value: Any, expression: str, *parts: Any) -> Any:
    return derived(value, expression) if source_of(*parts) else value


def _joined(value: list[Any]) -> Any:
    """What `~` makes: one text of several values."""
    text, source = "".join(map(str, value)), source_of(*value)
    return derived(text, source) if source else text


@jinja2.pass_context
def _compared(context: Context, words: str, named: str) -> Comparative:
    """Words that compare; `item` is called by the place that it was taken from."""
    item = source_of(context.get(grammar.ITEM))
    parts = [
        item + each.removeprefix("item") if item and each.startswith("item") else each for each in named.split(", ")
    ]
    made = Comparative(words)
    made.source = ", ".join(parts)
    return made


def _of_nothing(name: str, value: jinja2.Undefined, args: tuple[Any, ...]) -> Any:
    """What a filter gives for something that does not exist."""
    if name == "default":
        return args[0] if args else ""
    if not isinstance(value, _Empty):
        _undefined(value)
    return 0 if name == "length" else value


def _each(value: Any) -> Any:
    """What a loop goes through."""
    if isinstance(value, jinja2.Undefined):
        _undefined(value)
    if not isinstance(value, list | tuple | dict):
        raise TypeError("a loop goes through a list or a mapping")
    return value


def _rendering(context: Context) -> _Rendering:
    found = context.parent[_RENDERING]
    assert isinstance(found, _Rendering)
    return found


def _undefined(value: jinja2.Undefined) -> NoReturn:
    # Every use of it but printing raises Jinja's own error, which says what is missing.
    value()


def _is_defined(value: Any) -> bool:
    return not isinstance(value, jinja2.Undefined)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _line_of(traceback: TracebackType | None, template: jinja2.Template) -> int | None:
    """The line of the template that was being carried out."""
    line = None
    while traceback is not None:
        if traceback.tb_frame.f_globals.get("__jinja_template__") is template:
            line = template.get_corresponding_lineno(traceback.tb_lineno)
        traceback = traceback.tb_next
    return line


_PLACES = {Kind.CELL: place_in_cell, Kind.PROSE: place_in_prose, Kind.PLAIN: place_plainly}
