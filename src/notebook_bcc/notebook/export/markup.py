"""Markdown of a cell as safe HTML, with formulas drawn, code coloured and headings that can be linked to."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from notebook_bcc.notebook.export.maths import mathml
from notebook_bcc.notebook.export.sanitising import is_embedded_image, is_safe_link, safe_html

# Only a run that has ended, and an export, make a page: the libraries are loaded with the first one.
if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererHTML
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token
    from markdown_it.utils import EnvType, OptionsDict

_SLUG = re.compile(r"[^\w]+")
_IMAGE_MIME = re.compile(r"image/(?:png|jpeg|gif|webp|svg\+xml)")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of the page: what the table of contents lists."""

    level: int
    text: str
    anchor: str


@dataclass(slots=True)
class _Placeholders:
    """Pieces of our own making that must survive the sanitising of what surrounds them.

    In the rendered text stands a marker that nobody outside can guess; it is exchanged afterwards.
    """

    secret: str = field(default_factory=lambda: f"kept{secrets.token_hex(12)}n")
    pieces: list[str] = field(default_factory=list)

    def keep(self, piece: str) -> str:
        self.pieces.append(piece)
        return f"{self.secret}{len(self.pieces) - 1}e"

    def restored(self, html: str) -> str:
        return re.sub(f"{self.secret}([0-9]+)e", lambda found: self.pieces[int(found[1])], html)


def highlighted(source: str, *, language: str) -> str:
    """Source code as spans with pygments' short class names; plain text when the language is not known."""
    from pygments import highlight
    from pygments.formatters.html import HtmlFormatter
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return escape(source)
    coloured: str = highlight(source, lexer, HtmlFormatter(nowrap=True))
    return coloured


class Markup:
    """Renders the markdown of one page. Keeps the headings it meets, in order, with anchors used once each."""

    def __init__(self) -> None:
        self.headings: list[Heading] = []
        self._anchors: set[str] = set()
        self._trusting = _parser(html=True)
        self._escaping = _parser(html=False)

    def render(self, source: str, *, attachments: Mapping[str, Any] | None = None, anchor: str = "") -> str:
        """The HTML of a markdown cell. `anchor` is the one of its first heading, if that is free."""
        return self._rendered(self._trusting, source, attachments or {}, anchor)

    def render_text(self, source: str) -> str:
        """The HTML of text in which tags mean nothing and are shown as they stand."""
        return self._rendered(self._escaping, source, {}, None)

    def _rendered(self, parser: MarkdownIt, source: str, attachments: Mapping[str, Any], anchor: str | None) -> str:
        kept = _Placeholders()
        env: dict[str, Any] = {"kept": kept, "attachments": attachments}
        tokens = parser.parse(source, env)
        if anchor is not None:
            self._collect_headings(tokens, kept, anchor)
        return kept.restored(safe_html(parser.renderer.render(tokens, parser.options, env)))

    def _collect_headings(self, tokens: Sequence[Token], kept: _Placeholders, anchor_wanted: str) -> None:
        for place, token in enumerate(tokens):
            if token.type != "heading_open":
                continue
            text = _plain(tokens[place + 1])
            anchor = self._free_anchor(anchor_wanted or _SLUG.sub("-", text).strip("-").lower() or "heading")
            anchor_wanted = ""
            self.headings.append(Heading(level=int(token.tag[1:]), text=text, anchor=anchor))
            token.meta["anchor"] = kept.keep(f'<a class="anchor" id="{escape(anchor)}"></a>')

    def _free_anchor(self, wanted: str) -> str:
        anchor, number = wanted, 2
        while anchor in self._anchors:
            anchor, number = f"{wanted}-{number}", number + 1
        self._anchors.add(anchor)
        return anchor


def _plain(inline: Token) -> str:
    shown = ("text", "code_inline", "math_inline")
    return "".join(token.content for token in inline.children or () if token.type in shown).strip()


def _parser(*, html: bool) -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": html}).enable(["table", "strikethrough"])
    parser.inline.ruler.before("escape", "math_inline", _inline_math)
    parser.block.ruler.before("fence", "math_block", _block_math, {"alt": ["paragraph", "reference", "blockquote"]})
    for name, rule in (
        ("math_inline", _draw_math),
        ("math_block", _draw_math),
        ("fence", _draw_code),
        ("code_block", _draw_code),
        ("image", _draw_image),
        ("heading_open", _draw_heading),
    ):
        parser.add_render_rule(name, rule)
    return parser


def _inline_math(state: StateInline, silent: bool) -> bool:
    """`$x$` and `$$x$$`. As in pandoc a price is no formula: no space inside the dollars, no digit after them."""
    if state.src[state.pos] != "$":
        return False
    mark = "$$" if state.src.startswith("$$", state.pos) else "$"
    start = state.pos + len(mark)
    end = state.src.find(mark, start)
    while end > 0 and state.src[end - 1] == "\\":
        end = state.src.find(mark, end + 1)
    content = state.src[start:end] if end > start else ""
    if not content.strip() or end + len(mark) > state.posMax:
        return False
    follows = state.src[end + 1 : end + 2]
    if mark == "$" and (content[0].isspace() or content[-1].isspace() or follows.isdigit()):
        return False
    if not silent:
        token = state.push("math_inline", "math", 0)
        token.content, token.markup = content.strip(), mark
    state.pos = end + len(mark)
    return True


def _block_math(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """`$$` at the start of a line up to the next `$$` at the end of one."""
    first = state.src[state.bMarks[start] + state.tShift[start] : state.eMarks[start]]
    if not first.startswith("$$") or state.is_code_block(start):
        return False
    if silent:
        return True
    lines, line = [first[2:]], start
    while not lines[-1].rstrip().endswith("$$"):
        line += 1
        if line >= end or state.sCount[line] < state.blkIndent:
            return False
        lines.append(state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]])
    lines[-1] = lines[-1].rstrip().removesuffix("$$")
    content = "\n".join(lines).strip()
    if not content or "$$" in content:
        return False
    token = state.push("math_block", "math", 0)
    token.content, token.markup, token.map = content, "$$", [start, line + 1]
    state.line = line + 1
    return True


def _draw_math(renderer: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
    token = tokens[at]
    display = token.markup == "$$"
    drawn = mathml(token.content, display=display)
    if drawn is None:
        source = f"{token.markup}{token.content}{token.markup}"
        drawn = f'<code class="tex" title="This formula is shown as its TeX source">{escape(source)}</code>'
    return _keep(env, f'<div class="math">{drawn}</div>' if token.type == "math_block" else drawn)


def _draw_code(renderer: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
    token = tokens[at]
    language = (token.info.split() or [""])[0]
    code = highlighted(token.content, language=language) if language else escape(token.content)
    return _keep(env, f'<pre class="hl"><code>{code}</code></pre>')


def _draw_image(renderer: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
    token = tokens[at]
    source, label = str(token.attrs.get("src", "")), token.content
    if source.startswith("attachment:"):
        source = _attached(env["attachments"], source.removeprefix("attachment:"))
    if is_embedded_image(source):
        return f'<img src="{escape(source)}" alt="{escape(label)}">'
    # The page loads nothing: an image elsewhere is a link, or only its name.
    name = escape(f"[image: {label or source or 'missing'}]")
    return f'<a href="{escape(source)}">{name}</a>' if is_safe_link(source) else name


def _draw_heading(renderer: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
    return f"<{tokens[at].tag}>{tokens[at].meta.get('anchor', '')}"


def _attached(attachments: Mapping[str, Any], name: str) -> str:
    for mime, data in attachments.get(name, {}).items():
        if _IMAGE_MIME.fullmatch(mime) and isinstance(data, str):
            return f"data:{mime};base64,{''.join(data.split())}"
    return ""


def _keep(env: EnvType, piece: str) -> str:
    kept = env["kept"]
    assert isinstance(kept, _Placeholders)
    return kept.keep(piece)
