"""HTML of strangers made harmless: nothing of it runs, loads anything, or leaves its place on the page."""

from __future__ import annotations

import re

import nh3


def _words(text: str) -> set[str]:
    return set(text.split())


_TAGS = _words(
    "a abbr b blockquote br caption code col colgroup dd del details div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 "
    "hr i img ins kbd li mark ol p pre q s samp small span strong sub summary sup table tbody td tfoot th thead tr tt "
    "u ul var"
)
# Elements that go with all they contain: what stands inside is not meant to be read.
_DROPPED = _words(
    "script style iframe frameset noscript template object embed applet svg math title textarea select audio video "
    "canvas xmp noembed noframes plaintext"
)
_CELL = {"colspan", "rowspan", "scope", "style"}
_ATTRIBUTES = {
    "a": {"href", "title"},
    "img": {"src", "alt", "title", "width", "height"},
    "details": {"open"},
    "ol": {"start", "reversed"},
    "td": _CELL,
    "th": _CELL,
    "tr": {"style"},
    "p": {"style"},
    "div": {"style"},
    "span": {"style"},
    "abbr": {"title"},
}
_MATHML = _words(
    "math menclose mfrac mi mn mo mover mpadded mphantom mroot mrow mspace msqrt mstyle msub msubsup msup mtable mtd "
    "mtext mtr munder munderover"
)
_MATHML_ATTRIBUTES = _words(
    "accent accentunder columnalign depth display displaystyle fence form height linethickness lspace mathvariant "
    "maxsize minsize movablelimits notation rspace scriptlevel stretchy voffset width"
)
# No colours: what is readable on white is not on a dark page. No sizes or positions: nothing may cover the page.
_STYLES = {"text-align", "font-weight", "font-style", "vertical-align"}
_LINK = re.compile(r"(?:https?://|mailto:|#)", re.IGNORECASE)
_IMAGE = re.compile(r"data:image/(?:png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/=\s]+")
_VISIBLE = re.compile(r"<img\b|[^\s\u200b]")
_MARKUP = re.compile(r"<(?!img\b)[^<>]*>|&nbsp;")


def safe_html(html: str) -> str:
    """The part of `html` that is safe to put into a page: text, tables, lists, links, embedded images."""
    return nh3.clean(
        html,
        tags=_TAGS,
        clean_content_tags=_DROPPED,
        attributes=_ATTRIBUTES,
        attribute_filter=_filtered,
        filter_style_properties=_STYLES,
        url_schemes={"http", "https", "mailto", "data"},
        link_rel="noopener noreferrer",
    )


def safe_mathml(markup: str) -> str:
    """The part of a formula's markup that draws: no links, colours, styles or names."""
    return nh3.clean(markup, tags=_MATHML, attributes=dict.fromkeys(_MATHML, _MATHML_ATTRIBUTES))


def shows_something(html: str) -> bool:
    """Whether sanitised HTML has anything to see; a plot drawn by a script leaves nothing."""
    return _VISIBLE.search(_MARKUP.sub("", html)) is not None


def is_safe_link(url: str) -> bool:
    return _LINK.match(url) is not None


def is_embedded_image(url: str) -> bool:
    return _IMAGE.fullmatch(url) is not None


def _filtered(tag: str, attribute: str, value: str) -> str | None:
    if attribute == "href":
        return value if is_safe_link(value) else None
    if attribute == "src":
        return value if is_embedded_image(value) else None
    if attribute in ("width", "height"):
        return value if value.isascii() and value.isdigit() and len(value) <= 5 else None
    return value
