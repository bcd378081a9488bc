import base64
import re
from collections.abc import Callable
from html.parser import HTMLParser

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from notebook_bcc.notebook.document import Document
from notebook_bcc.notebook.export.html import html_page
from notebook_bcc.notebook.export.markup import Markup
from notebook_bcc.notebook.export.sanitising import safe_html
from notebook_bcc.protocol.cells import Cell, Output
from notebook_bcc.protocol.vocabulary import CellType

MakeDocument = Callable[..., Document]

ATTACKS = [
    "<script>alert(1)</script>",
    "<SCRIPT SRC=https://evil.test/x.js></SCRIPT>",
    "<img src=x onerror=alert(1)>",
    '<img src="https://evil.test/track.png">',
    '<img srcset="https://evil.test/a 1x" src="//evil.test/a">',
    '<a href="javascript:alert(1)">x</a>',
    '<a href="JaVa\tScRiPt:alert(1)">x</a>',
    '<a href="data:text/html,<script>alert(1)</script>">x</a>',
    '<a href="vbscript:x" onclick="alert(1)" target="_blank">x</a>',
    "<style>body{display:none} @import url(https://evil.test/x.css);</style>",
    '<div style="position:fixed;inset:0;background:url(https://evil.test/x)">cover</div>',
    '<p style="background-image:url(javascript:alert(1));text-align:right">x</p>',
    '<iframe src="https://evil.test"></iframe>',
    '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
    "<svg><script>alert(1)</script></svg>",
    "<svg onload=alert(1)><animate onbegin=alert(1)></svg>",
    '<svg><use href="https://evil.test/x.svg#a"/></svg>',
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)></style></mglyph></table></mtext></math>",
    '<object data="https://evil.test/x"></object><embed src="https://evil.test/x">',
    '<form action="https://evil.test"><input name=a><button formaction="javascript:x">go</button></form>',
    '<meta http-equiv="refresh" content="0;url=https://evil.test"><base href="https://evil.test/">',
    '<link rel="stylesheet" href="https://evil.test/x.css">',
    '<noscript><p title="</noscript><img src=x onerror=alert(1)>"></noscript>',
    "<details ontoggle=alert(1) open>x</details>",
    "</main></body><script>alert(1)</script>",
    "<!--><script>alert(1)</script>-->",
    "<textarea></textarea><script>alert(1)</script>",
    "<video poster=https://evil.test/x><source onerror=alert(1)></video>",
    "[x](javascript:alert(1)) ![x](https://evil.test/a.png) ![x](javascript:alert(1))",
    "<https://example.org> <javascript:alert(1)>",
    '```"><script>alert(1)</script>\ncode</code></pre><script>alert(1)</script>\n```',
    "$</math><script>alert(1)</script>$ $\\unknown{<script>alert(1)</script>}$",
    '# <img src=x onerror=alert(1)> heading "><script>alert(1)</script>',
    '<h2 id="x" class="toc" name="location">x</h2>',
]

ALLOWED_URL = {"href": re.compile(r"(https?://|mailto:|#)"), "src": re.compile(r"data:image/")}


class Page(HTMLParser):
    """A page as a browser would take it apart, checked while it is read: nothing in it runs or loads anything."""

    VOID = frozenset({"meta", "img", "br", "hr", "col"})

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.ids: list[str] = []
        self.text = ""
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in {
            "script",
            "iframe",
            "object",
            "embed",
            "form",
            "input",
            "link",
            "base",
            "svg",
            "use",
            "video",
        }
        self.tags.append(tag)
        for name, value in attrs:
            assert not name.startswith("on"), (tag, name)
            assert name not in {"srcset", "srcdoc", "action", "formaction", "data", "poster", "background", "target"}
            if name in ALLOWED_URL:
                assert ALLOWED_URL[name].match(value or ""), (tag, name, value)
            if name == "style":
                assert "url" not in (value or "")
                assert "position" not in (value or "")
            if name == "id":
                self.ids.append(value or "")
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.text += data


def displayed(**data: object) -> Output:
    return {"output_type": "display_data", "data": {key.replace("_", "/"): data[key] for key in data}, "metadata": {}}


def page_of(*cells: Cell) -> str:
    document = Document()
    for cell in cells:
        document = document.with_cell(cell)
    return html_page(document)


def check(page: str) -> Page:
    """Safe, whole, and at most one style sheet: ours."""
    read = Page(page)
    assert read.tags.count("style") == 1
    assert len(set(read.ids)) == len(read.ids)
    sheet = page[page.index("<style>") : page.index("</style>")]
    assert "url(" not in sheet
    assert "@import" not in sheet
    return read


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_planted_in_a_cell_survives(attack: str) -> None:
    picture = base64.b64encode(attack.encode()).decode()
    outputs = (
        displayed(text_html=attack),
        displayed(text_html=f"<table><tr><td>{attack}</td></tr></table>", text_plain=attack),
        displayed(text_markdown=attack),
        displayed(text_latex=attack),
        displayed(text_plain=attack),
        {"output_type": "display_data", "data": {"image/svg+xml": attack}, "metadata": {}},
        {"output_type": "display_data", "data": {"image/png": attack}, "metadata": {"image/png": {"width": attack}}},
        {"output_type": "display_data", "data": {"image/png": picture}, "metadata": {}},
        {"output_type": "stream", "name": "stderr", "text": attack},
        {"output_type": "error", "ename": attack, "evalue": attack, "traceback": []},
        {"output_type": "error", "ename": "E", "evalue": "", "traceback": [attack]},
    )
    document = Document(title=attack)
    for cell in (
        Cell(
            "a", CellType.MARKDOWN, attack, metadata={"chapter_id": attack, "attachments": {attack: {attack: attack}}}
        ),
        Cell("b", CellType.MARKDOWN, f"text {attack} text\n\n- {attack}\n\n> {attack}"),
        Cell("c", CellType.CODE, attack, outputs, 1),
        Cell("d", CellType.THINKING, attack, metadata={"agent_name": attack, "custom_text": attack}),
    ):
        document = document.with_cell(cell)
    for fold_code in (False, True):
        check(html_page(document, run={attack: attack}, fold_code=fold_code, language=attack))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from(ATTACKS) | st.text(st.characters(codec=None), max_size=20), max_size=4).map("\n".join))
def test_any_text_gives_a_safe_page(text: str) -> None:
    page = page_of(Cell("a", CellType.MARKDOWN, text), Cell("b", CellType.CODE, text, (displayed(text_html=text),)))
    check(page).text.encode()
    assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", page)


def test_the_page_refers_to_nothing_outside_itself(document: Document) -> None:
    page = html_page(document, run={"goal": "x"})
    assert "http://" not in page
    assert "https://" not in page
    assert '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; img-src data:;' in page
    check(page)


def test_links_in_the_text_stay_links(make_document: MakeDocument) -> None:
    page = html_page(make_document(("markdown", "[docs](https://example.org) ![pic](https://example.org/a.png)")))
    assert '<a href="https://example.org" rel="noopener noreferrer">docs</a>' in page
    assert '<a href="https://example.org/a.png" rel="noopener noreferrer">[image: pic]</a>' in page
    assert "<img" not in page


def test_everything_in_the_notebook_is_on_the_page(document: Document, pixel: str) -> None:
    page = html_page(document)
    read = check(page)
    for words in ("A title 标题", "Chapter one", "First <look>.", "Then & go.", "print('one')", "KeyError", "one\ntwo"):
        assert words in read.text
    assert f"data:image/png;base64,{pixel}" in page
    assert "<table><tbody><tr><td>1</td></tr></tbody></table>" in page
    assert '<span class="ansi-red">KeyError</span>' in page
    assert "<msup><mi>x</mi><mn>2</mn></msup>" in page
    assert "<title>A title 标题</title>" in page


def test_a_finished_thought_is_folded_and_an_open_one_is_not(make_document: MakeDocument) -> None:
    page = html_page(make_document(("thinking", "a", (), {"finished_thinking": True}), ("thinking", "b")))
    assert page.count('<details class="thinking">') == 1
    assert page.count('<details class="thinking" open>') == 1


def test_thoughts_can_be_left_out(document: Document) -> None:
    assert "Then" not in Page(html_page(document, thinking=False)).text


def test_code_can_be_folded(document: Document) -> None:
    assert "<summary>Code, 3 lines</summary>" in html_page(document, fold_code=True)
    assert "<summary>Code" not in html_page(document)


def test_a_cell_that_asks_for_it_is_folded_alone() -> None:
    folded = Cell("a", CellType.CODE, "x = 1\ny = 2", metadata={"extra": {"folded": True}})
    page = page_of(folded, Cell("b", CellType.CODE, "z = 3"))
    assert page.count("<summary>Code, 2 lines</summary>") == 1
    assert "Code, 1 line" not in page


def test_the_contents_list_chapters_and_sections_and_every_link_has_its_target(make_document: MakeDocument) -> None:
    headings = ["## One", "### Same", "### Same", "## 中文 标题", "## `code` & <b>"]
    document = make_document(*[("markdown", heading) for heading in headings])
    page = html_page(document)
    targets = re.findall(r'<li class="level-[23]"><a href="#([^"]+)">', page)
    assert len(targets) == len(headings)
    assert set(targets) <= set(Page(page).ids)
    assert "<nav" not in html_page(make_document(("markdown", "## One")))


def test_a_page_begins_with_its_title(document: Document) -> None:
    page = html_page(document)
    assert page.count("A title 标题</h1>") == 1
    assert page.index("<h1") < page.index("Chapter one</a>") < page.index("<main>")


def test_a_wide_table_says_how_it_fits_on_paper(make_document: MakeDocument) -> None:
    def cells(count: int, value: str) -> str:
        table = f"<table><tr>{f'<td>{value}</td>' * count}</tr></table>"
        return html_page(make_document(("code", "table", [displayed(text_html=table)])))

    assert '<div class="rich">' in cells(8, "1")
    assert '<div class="rich" style="--paper-size: 7.2pt">' in cells(12, "71.28330")
    assert ' data-break="headers" data-wide="">' in cells(34, "1234")
    assert ' data-break="all" data-wide="">' in cells(60, "1234567")


def test_chapter_ids_are_the_anchors(document: Document) -> None:
    ids = Page(html_page(document)).ids[1:]
    assert [one for one in ids if not one.startswith("cell-")] == ["chapter-1", "section-1"]


def test_what_needs_scripts_is_told_instead_of_shown() -> None:
    plot = displayed(text_html="<div><div id='p'></div><script>draw()</script></div>")
    page = page_of(Cell("a", CellType.CODE, "plot()", (plot,)))
    assert "Interactive output" in page
    assert "draw()" not in page


def test_a_widget_falls_back_to_its_picture_or_its_text(pixel: str) -> None:
    widget = {"application/vnd.jupyter.widget-view+json": {"model_id": "m"}, "text/plain": "IntSlider(value=7)"}
    plain = page_of(Cell("a", CellType.CODE, "", ({"output_type": "display_data", "data": widget, "metadata": {}},)))
    assert "IntSlider(value=7)" in plain
    assert "Interactive output" in plain
    pictured = {**widget, "image/png": pixel}
    page = page_of(Cell("a", CellType.CODE, "", ({"output_type": "display_data", "data": pictured, "metadata": {}},)))
    assert "data:image/png" in page
    assert "Interactive output" not in page


def test_a_table_with_scripts_beside_it_is_shown_with_a_note() -> None:
    html = "<style>td{}</style><table><tr><td>7</td></tr></table><script>sort()</script>"
    page = page_of(Cell("a", CellType.CODE, "", (displayed(text_html=html, text_plain="<Table>"),)))
    assert "<td>7</td>" in page
    assert "left out" in page


def test_an_estimator_is_shown_as_its_text() -> None:
    html = '<style>a{}</style><div class="sk-top-container"><table><tr><td>alpha</td></tr></table></div>'
    page = page_of(Cell("a", CellType.CODE, "", (displayed(text_html=html, text_plain="Ridge(alpha=2)"),)))
    assert "Ridge(alpha=2)" in page
    assert "<td>alpha</td>" not in page


def test_an_svg_is_an_image_that_cannot_run() -> None:
    svg = "<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"
    page = page_of(
        Cell("a", CellType.CODE, "", ({"output_type": "display_data", "data": {"image/svg+xml": svg}, "metadata": {}},))
    )
    assert "<svg" not in page
    assert f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}" in page


def test_an_attached_image_is_embedded(make_document: MakeDocument, pixel: str) -> None:
    attachments = {"attachments": {"a.png": {"image/png": pixel}}}
    page = html_page(make_document(("markdown", "![a](attachment:a.png)", (), attachments)))
    assert f'<img src="data:image/png;base64,{pixel}" alt="a">' in page


def test_the_language_of_the_page_follows_its_text(make_document: MakeDocument) -> None:
    assert '<html lang="zh-CN">' in html_page(make_document(("markdown", "数据")))
    assert '<html lang="en">' in html_page(make_document(("markdown", "data")))
    assert '<html lang="en">' in html_page(make_document(("markdown", "データ分析")))


@pytest.mark.parametrize(
    ("source", "formulas"),
    [
        ("$x$", 1),
        ("costs $5 or $10", 0),
        (r"\$x\$", 0),
        ("`$x$`", 0),
        ("```\n$x$\n```", 0),
        ("$$\na\n- b\n$$", 1),
        ("text $$a+b$$ text", 1),
        ("$$ unclosed\n\ntext", 0),
        ("$ x $", 0),
        ("- $a$\n- $b$", 2),
        ("    $$x$$", 0),
    ],
)
def test_dollars_make_formulas_only_where_they_mean_it(source: str, formulas: int) -> None:
    assert Markup().render(source).count("<math") == formulas


def test_a_formula_that_is_not_known_is_shown_as_it_is_written() -> None:
    assert ">$\\strange{x}$</code>" in Markup().render(r"$\strange{x}$")


def test_code_in_text_is_coloured() -> None:
    assert '<span class="kn">import</span>' in Markup().render("```python\nimport a\n```")
    assert "<code>import a\n</code>" in Markup().render("```nolanguage\nimport a\n```")


def test_tables_of_pandas_keep_their_spans() -> None:
    row = '<tr style="text-align: right;"><th colspan="2">a</th></tr>'
    html = f'<table border="1" class="dataframe"><thead>{row}</thead></table>'
    assert '<tr style="text-align:right"><th colspan="2">a</th></tr>' in safe_html(html)
