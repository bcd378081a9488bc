import time
import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notebook_bcc.notebook.export.markup import Markup
from notebook_bcc.notebook.export.maths import mathml

ARITIES = {"mfrac": 2, "msub": 2, "msup": 2, "munder": 2, "mover": 2, "mroot": 2, "msubsup": 3, "munderover": 3}


def check(drawn: str) -> None:
    """What browsers ask of MathML: well formed, and every element with as many children as it needs."""
    for element in ElementTree.fromstring(drawn.replace("&nbsp;", "\u00a0")).iter():
        assert len(element) == ARITIES.get(element.tag, len(element))


@pytest.mark.parametrize(
    "formula",
    [
        r"\frac{1}{n}\sum_{i=1}^n (y_i-\hat y_i)^2",
        r"\begin{pmatrix}a&b\\c&d\\\end{pmatrix}",
        r"\begin{aligned}a&=b\\&=d\end{aligned}",
        r"f(x) = \begin{cases}1 & \text{if } x > 0\\0 & \text{otherwise}\end{cases}",
        r"\lVert \mathbf{w} \rVert_2^2 + \lambda \left| \beta \right|_1",
        r"\sqrt[3]{x} + \sqrt2 + \binom{n}{k} + \frac12",
        r"\int_0^\infty e^{-x^2}\,dx = \frac{\sqrt{\pi}}{2}",
        r"\argmax_\theta \log p_\theta(x \mid y), \quad f'' + f'^2",
        r"P(A \cap B) \leq \mathbb{E}[X] \in \mathcal{F} \subseteq \mathbb{R}^{n \times p}",
        r"\operatorname{Var}(X) = \sigma^2, \operatorname*{argmin}_x f",
        r"\overline{x} \approx \vec{v} \to \underbrace{a+b}_{n} \overset{!}{=} c",
        r"\left. \frac{\partial f}{\partial x} \right|_{x=0}",
        r"\mathrm{RMSE} = 10\% < \$5",
        "收益 = x",
    ],
)
def test_formulas_of_notebooks_are_drawn(formula: str) -> None:
    drawn = mathml(formula, display=True)
    assert drawn is not None
    assert drawn.startswith('<math display="block">')
    check(drawn)


@pytest.mark.parametrize(
    "formula",
    [
        "",
        " ",
        r"\unknown{x}",
        r"\frac{1",
        "}",
        "{",
        "x^",
        "x^2^3",
        r"\left( x",
        r"\right)",
        "&",
        "\\",
        "{" * 3000,
        "x" * 9000,
        r"\begin{tikz}\end{tikz}",
        r"\begin{matrix}a\end{pmatrix}",
        r"\text{a $b$}",
        r"\sqrt",
        r"\mathbb{\frac}",
        "#",
        r"\\",
        r"a \\ b",
        "a & b",
        "10% of x",
        r"\operatorname{<b>}",
        r"\newcommand{\a}{xx}\newcommand{\b}{\a\a}\b",
        r"\def\a{x}\a",
        r"\frac{1}",
        r"\sqrt" * 700,
    ],
)
def test_what_is_not_understood_is_not_guessed_at(formula: str) -> None:
    assert mathml(formula, display=False) is None


def test_a_script_without_braces_is_one_character() -> None:
    assert (
        mathml("x^23", display=False)
        == '<math display="inline"><mrow><msup><mi>x</mi><mn>2</mn></msup><mn>3</mn></mrow></math>'
    )


def test_markup_in_a_formula_is_text() -> None:
    drawn = mathml(r"\text{<script>alert(1)</script>} < \text{<b>}", display=False)
    assert drawn is not None
    assert "<script" not in drawn
    assert "<b>" not in drawn
    check(drawn)


PIECES = [
    "x",
    "12",
    "{",
    "}",
    "^",
    "_",
    "'",
    "&",
    r"\\",
    "(",
    "|",
    "<",
    '"',
    " ",
    r"\frac",
    r"\sqrt",
    "[",
    "]",
    r"\left",
    r"\right",
]
PIECES += [
    r"\sum",
    r"\hat",
    r"\text",
    r"\begin{matrix}",
    r"\end{matrix}",
    r"\mathbf",
    r"\alpha",
    r"\log",
    r"\,",
    r"\big",
]


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_every_formula_is_drawn_right_or_not_at_all(formula: str) -> None:
    drawn = mathml(formula, display=False)
    if drawn is not None:
        check(drawn)


@pytest.mark.parametrize(
    ("formula", "shown"),
    [
        (r"\frac{a}{b}", "<mfrac><mrow><mi>a</mi></mrow><mrow><mi>b</mi></mrow></mfrac>"),
        (r"\alpha \leq \Omega", "<mi>α</mi><mo>≤</mo><mi>Ω</mi>"),
        (r"\mathbb{R}", "<mi>ℝ</mi>"),
        (r"\begin{matrix}a&b\end{matrix}", "<mtr><mtd><mi>a</mi></mtd><mtd><mi>b</mi></mtd></mtr>"),
        (r"\begin{aligned}a&=b\end{aligned}", '<mtd columnalign="right"><mi>a</mi></mtd>'),
        (r"\text{if } x", "<mtext>if&nbsp;</mtext>"),
    ],
)
def test_readers_see_what_is_written(formula: str, shown: str) -> None:
    assert shown in (mathml(formula, display=False) or "")


def test_limits_stand_below_and_above_where_there_is_room() -> None:
    assert "<munderover><mo>∑</mo>" in (mathml(r"\sum_{i=1}^n x_i", display=True) or "")
    assert "<msubsup><mo>∑</mo>" in (mathml(r"\sum_{i=1}^n x_i", display=False) or "")


@pytest.mark.parametrize(
    "formula", [r"\href{javascript:alert(1)}{x}", r"\style{position:fixed}{x}", r"\class{a}{x}", r"\color{red}{x}"]
)
def test_a_formula_brings_no_links_and_no_styles(formula: str) -> None:
    drawn = mathml(formula, display=False) or ""
    assert not any(word in drawn for word in ("javascript", "style=", "class=", "red"))


@pytest.mark.parametrize(
    "unit", [r"\frac{", r"\frac", "{", "x^{", r"\left(", r"\begin{matrix}", "'", r"\text{", "{}", "%"]
)
def test_a_megabyte_of_anything_is_shown_as_its_source_at_once(unit: str) -> None:
    source = (unit * 1_000_000)[:1_000_000]
    begin = time.process_time()
    assert mathml(source, display=True) is None
    assert "<math" not in Markup().render(f"$${source}$$")
    assert time.process_time() - begin < 5
