"""Comparatives of a template ("more than", "the largest"), each with the variables that it speaks of.

Which they are can be told from the template alone: those written in the same sentence, and those by which the sentence
was chosen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from jinja2 import nodes

from notebook_bcc.playbook.templates.grammar import COMPARED
from notebook_bcc.playbook.templates.tracing import part_of

COMPARATIVE: Final = re.compile(
    r"\b(?:better|best|worse|worst|more|most|less|least|fewer|fewest|larger|largest|smaller|smallest|higher|highest|"
    r"lower|lowest|stronger|strongest|weaker|weakest|rarer|rarest|newest|oldest|longer|longest|shorter|shortest|twice|"
    r"double)\b|[更较最][好差高低大小多少强弱近新早晚长短优佳]|最为|大于|小于|多于|少于|高于|低于|优于|好于|"
    r"不如|超过|不到|不超过",
    re.IGNORECASE,
)
_SENTENCE_END: Final = re.compile(r"[.!?](?=[\s*]|$)|[。！？]|\n[ \t]*\n|\n[ \t]*[-|] ")
_FACTS: Final = frozenset({"v", "inputs", "asked", "item", "goal", "effects"})
_MOST_NAMED: Final = 4
_Names = Mapping[str, tuple[str, ...]]
_Branch = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class _Passage:
    """A part of the text in its order: words of the template, or a place for a value.

    `branch` are the alternatives that it stands in; `chosen_by` the variables by which they are chosen.
    """

    node: nodes.Expr
    words: str
    variables: tuple[str, ...]
    branch: _Branch
    chosen_by: tuple[str, ...]

    def beside(self, other: _Passage) -> bool:
        """Whether both can stand in one text: they are not two alternatives of one choice."""
        taken = dict(self.branch)
        return all(taken.get(choice, way) == way for choice, way in other.branch)


def comparatives_marked(tree: nodes.Template) -> nodes.Template:
    """The tree in which each comparative is a value that knows its variables; one that has none stays as it is."""
    pieces = list(_pieces(tree.body, {}, (), ()))
    changed: dict[int, list[nodes.Expr]] = {}
    for at, piece in enumerate(pieces):
        if isinstance(piece.node, nodes.TemplateData):
            changed[id(piece.node)] = _parted(piece, pieces, at)
        elif isinstance(piece.node, nodes.CondExpr):
            _mark_words(piece.node, piece)
    for output in tree.find_all(nodes.Output):
        output.nodes = [new for node in output.nodes for new in changed.get(id(node), [node])]
    return tree


def _parted(piece: _Passage, pieces: Sequence[_Passage], at: int) -> list[nodes.Expr]:
    parts: list[nodes.Expr] = []
    done = 0
    for found in COMPARATIVE.finditer(piece.words):
        named = _spoken_of(pieces, at, found.start(), found.end())
        if not named:
            continue
        parts.append(nodes.TemplateData(piece.words[done : found.start()], lineno=piece.node.lineno))
        parts.append(_marked(found[0], named, piece.node))
        done = found.end()
    if done < len(piece.words):
        parts.append(nodes.TemplateData(piece.words[done:], lineno=piece.node.lineno))
    return parts


def _mark_words(choice: nodes.CondExpr, piece: _Passage) -> None:
    """Words that an expression chooses speak of what it chooses by."""
    for name in ("expr1", "expr2"):
        each = getattr(choice, name)
        if isinstance(each, nodes.CondExpr):
            _mark_words(each, piece)
        elif isinstance(each, nodes.Const) and piece.variables and COMPARATIVE.search(str(each.value)):
            setattr(choice, name, _marked(str(each.value), piece.variables[:_MOST_NAMED], each))


def _marked(words: str, named: Sequence[str], node: nodes.Node) -> nodes.Filter:
    made = [nodes.Const(", ".join(named), lineno=node.lineno)]
    return nodes.Filter(nodes.Const(words, lineno=node.lineno), COMPARED, made, [], None, None, lineno=node.lineno)


def _spoken_of(pieces: Sequence[_Passage], at: int, start: int, end: int) -> list[str]:
    """The variables of the sentence that these words stand in, then those by which it was chosen."""
    here = pieces[at]
    before = [] if _SENTENCE_END.search(here.words, 0, start) else _until_end(here, reversed(pieces[:at]))
    after = [] if _SENTENCE_END.search(here.words, end) else _until_end(here, pieces[at + 1 :])
    named = [name for piece in (*reversed(before), *after) for name in piece.variables]
    return list(dict.fromkeys([*named, *reversed(here.chosen_by)]))[:_MOST_NAMED]


def _until_end(here: _Passage, others: Iterable[_Passage]) -> list[_Passage]:
    """The pieces of the same sentence, from here on."""
    found: list[_Passage] = []
    for piece in others:
        if piece.beside(here):
            found.append(piece)
            if _SENTENCE_END.search(piece.words):
                break
    return found


def _pieces(
    body: Sequence[nodes.Node], names: _Names, branch: _Branch, chosen_by: tuple[str, ...]
) -> Iterator[_Passage]:
    known = dict(names)
    for node in body:
        if isinstance(node, nodes.Output):
            for each in node.nodes:
                words = each.data if isinstance(each, nodes.TemplateData) else ""
                yield _Passage(each, words, tuple(_variables(each, known)), branch, chosen_by)
        elif isinstance(node, nodes.Assign) and isinstance(node.target, nodes.Name):
            known[node.target.name] = tuple(_variables(node.node, known))
        elif isinstance(node, nodes.For):
            through = tuple(_variables(node.iter, known))
            inside = {each.name: through for each in _targets(node.target)}
            yield from _pieces(node.body, {**known, **inside}, branch, (*chosen_by, *through))
        elif isinstance(node, nodes.If):
            yield from _alternatives(node, known, branch, chosen_by)


def _alternatives(node: nodes.If, names: _Names, branch: _Branch, chosen_by: tuple[str, ...]) -> Iterator[_Passage]:
    ways = [(each.test, each.body) for each in (node, *node.elif_)]
    asked = chosen_by
    for number, (test, body) in enumerate(ways):
        asked = (*asked, *_variables(test, names))
        yield from _pieces(body, names, (*branch, (id(node), number)), asked)
    yield from _pieces(node.else_, names, (*branch, (id(node), len(ways))), asked)


def _variables(node: nodes.Node, names: _Names) -> Iterator[str]:
    """The variables that an expression reads, as paths in the facts."""
    path = _path(node)
    if path:
        yield path
    elif isinstance(node, nodes.Name):
        yield from names.get(node.name, ())
    else:
        for child in node.iter_child_nodes():
            yield from _variables(child, names)


def _path(node: nodes.Node) -> str:
    match node:
        case nodes.Name() if node.name in _FACTS:
            return str(node.name)
        case nodes.Getattr():
            inner = _path(node.node)
            return part_of(inner, node.attr) if inner else ""
        case nodes.Getitem() if isinstance(node.arg, nodes.Const):
            inner = _path(node.node)
            return part_of(inner, node.arg.value) if inner else ""
        case _:
            return ""


def _targets(node: nodes.Node) -> list[nodes.Name]:
    return [node] if isinstance(node, nodes.Name) else list(node.find_all(nodes.Name))
