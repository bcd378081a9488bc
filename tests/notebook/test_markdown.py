from collections.abc import Callable
from pathlib import PurePosixPath

from notebook_bcc.notebook.document import Document
from notebook_bcc.notebook.export.markdown import markdown_text

MakeDocument = Callable[..., Document]


def test_everything_is_in_the_text_in_order(document: Document) -> None:
    text = markdown_text(document).text
    parts = ["# A title 标题", "## Chapter one", "<details>", "### Section one", "```python\nprint('one')"]
    parts += ["```text\none\ntwo\n```", "![Figure](data:image/png;base64,", "```text\n   a\n0  1\n```", "KeyError: 'x'"]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert "\x1b" not in text
    assert text.endswith("```\n")


def test_pictures_can_go_to_a_folder(document: Document) -> None:
    made = markdown_text(document, folder="my figures")
    assert "![Figure](my%20figures/cell-5-2.png)" in made.text
    (path,) = made.pictures
    assert path == PurePosixPath("my figures/cell-5-2.png")
    assert made.pictures[path].startswith(b"\x89PNG")


def test_thoughts_can_be_left_out(document: Document) -> None:
    assert "<details>" not in markdown_text(document, thinking=False).text


def test_code_with_fences_stays_one_block(make_document: MakeDocument) -> None:
    assert markdown_text(make_document(("code", "'''\n````\n'''"))).text == "`````python\n'''\n````\n'''\n`````\n"


def test_an_attachment_becomes_a_file(make_document: MakeDocument, pixel: str) -> None:
    attachments = {"attachments": {"../a.png": {"image/png": pixel}, "bad": {"image/png": "?"}}}
    document = make_document(
        ("markdown", "![a](attachment:../a.png) ![b](attachment:bad) ![c](attachment:c)", (), attachments)
    )
    made = markdown_text(document, folder="f")
    assert made.text == "![a](f/cell-1--a-png.png) ![b](attachment:bad) ![c](attachment:c)\n"
    assert list(made.pictures) == [PurePosixPath("f/cell-1--a-png.png")]


def test_html_without_a_text_form_is_inserted_made_safe(make_document: MakeDocument) -> None:
    html = "<table>\n\n<tr><td onclick='x'>7</td></tr></table><script>x</script>"
    output = {"output_type": "display_data", "data": {"text/html": html, "text/plain": "<Styler>"}, "metadata": {}}
    text = markdown_text(make_document(("code", "x", (output,)))).text
    assert "<td>7</td>" in text
    assert "script" not in text
    assert "\n\n<t" not in text


def test_what_needs_scripts_is_told(make_document: MakeDocument) -> None:
    output = {"output_type": "display_data", "data": {"text/html": "<script>x</script>"}, "metadata": {}}
    assert "*Interactive output" in markdown_text(make_document(("code", "x", (output,)))).text


def test_an_empty_notebook_is_an_empty_text() -> None:
    assert markdown_text(Document()).text == "\n"
