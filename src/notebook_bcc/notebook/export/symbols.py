"""TeX's names for letters, signs, accents and alphabets, as Unicode."""

from __future__ import annotations

from collections.abc import Mapping


def _pairs(text: str) -> Mapping[str, str]:
    words = text.split()
    return dict(zip(words[::2], words[1::2], strict=True))


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


LETTERS = _pairs(
    "alpha α beta β gamma γ delta δ epsilon ϵ varepsilon ε zeta ζ eta η theta θ vartheta ϑ iota ι kappa κ lambda λ "
    "mu μ nu ν xi ξ pi π varpi ϖ rho ρ varrho ϱ sigma σ varsigma ς tau τ upsilon υ phi ϕ varphi φ chi χ psi ψ omega ω "
    "Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Upsilon Υ Phi Φ Psi Ψ Omega Ω "
    "infty ∞ partial ∂ nabla ∇ ell ℓ hbar ℏ Re ℜ Im ℑ aleph ℵ emptyset ∅ varnothing ∅ imath ı jmath ȷ top ⊤ bot ⊥ "
    "ldots … dots … cdots ⋯ vdots ⋮ ddots ⋱ dotsc … dotsb ⋯ degree ° % % $ $ # # _ _"
)
OPERATORS = _pairs(
    "times × cdot ⋅ div ÷ pm ± mp ∓ ast ∗ star ⋆ circ ∘ bullet ∙ oplus ⊕ otimes ⊗ odot ⊙ "
    "le ≤ leq ≤ ge ≥ geq ≥ ne ≠ neq ≠ ll ≪ gg ≫ approx ≈ sim ∼ simeq ≃ cong ≅ equiv ≡ propto ∝ doteq ≐ triangleq ≜ "
    "in ∈ notin ∉ ni ∋ subset ⊂ subseteq ⊆ supset ⊃ supseteq ⊇ cup ∪ cap ∩ setminus ∖ land ∧ lor ∨ wedge ∧ vee ∨ "
    "neg ¬ lnot ¬ forall ∀ exists ∃ perp ⊥ parallel ∥ mid ∣ vert | Vert ‖ | ‖ { { } } langle ⟨ rangle ⟩ "
    "lceil ⌈ rceil ⌉ lfloor ⌊ rfloor ⌋ lvert | rvert | lVert ‖ rVert ‖ colon : prime ′ backslash \\ & & "
    "to → rightarrow → leftarrow ← gets ← leftrightarrow ↔ Rightarrow ⇒ Leftarrow ⇐ Leftrightarrow ⇔ implies ⟹ iff ⟺ "
    "mapsto ↦ longrightarrow ⟶ uparrow ↑ downarrow ↓ hookrightarrow ↪ int ∫ iint ∬ oint ∮"
)
# Scripts of these stand above and below in a displayed formula; browsers move them beside it in a line of text.
LIMITS = {f"\\{name}": sign for name, sign in _pairs("sum ∑ prod ∏ coprod ∐ bigcup ⋃ bigcap ⋂ bigoplus ⨁").items()} | {
    f"\\{name}": name for name in ("lim", "max", "min", "sup", "inf", "argmax", "argmin", "limsup", "liminf")
}
FUNCTIONS = _set(
    "sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh log ln lg exp det dim ker deg arg gcd Pr hom"
)
ACCENTS = _pairs(
    "hat ^ widehat ^ bar ¯ overline ¯ tilde ~ widetilde ~ vec → overrightarrow → dot ˙ ddot ¨ check ˇ breve ˘ acute ´ "
    "grave `"
)
SPACES = {
    ",": "0.17em",
    ":": "0.22em",
    ";": "0.28em",
    "!": "-0.17em",
    " ": "0.33em",
    "quad": "1em",
    "qquad": "2em",
    "thinspace": "0.17em",
}
TEXTS = frozenset({"text", "textrm", "textbf", "textit", "mbox", "textsf", "texttt"})
ALPHABETS = frozenset({"mathrm", "mathit", "mathbf", "boldsymbol", "bm", "mathbb", "mathcal", "mathsf"})
SIZES = _set("big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr")
IGNORED = frozenset({"displaystyle", "textstyle", "limits", "nolimits", "nonumber", "notag"})
DELIMITERS = {sign: sign for sign in "()[]|/"} | {
    f"\\{name}": OPERATORS[name]
    for name in _set("{ } | langle rangle lceil rceil lfloor rfloor vert Vert lvert rvert lVert rVert")
}

# First letters of the alphabets in Unicode's block of mathematical letters: capitals, small letters, digits.
_STARTS = {
    "mathbf": (0x1D400, 0x1D41A, 0x1D7CE),
    "boldsymbol": (0x1D468, 0x1D482, 0x1D7CE),
    "bm": (0x1D468, 0x1D482, 0x1D7CE),
    "mathbb": (0x1D538, 0x1D552, 0x1D7D8),
    "mathcal": (0x1D49C, 0x1D4B6, 0),
    "mathsf": (0x1D5A0, 0x1D5BA, 0x1D7E2),
}
# Letters that were in Unicode before that block and are missing in it.
_ELSEWHERE = {
    "mathbb": _pairs("C ℂ H ℍ N ℕ P ℙ Q ℚ R ℝ Z ℤ"),
    "mathcal": _pairs("B ℬ E ℰ F ℱ H ℋ I ℐ L ℒ M ℳ R ℛ e ℯ g ℊ o ℴ"),
}


def in_alphabet(text: str, alphabet: str) -> str:
    """The letters and digits of `text` in that alphabet. Raises ValueError for what it does not have."""
    if text.startswith("\\"):
        greek = LETTERS.get(text[1:])
        if greek is None:
            raise ValueError(f"{text!r} is no letter")
        return greek
    if not text.isalnum():
        raise ValueError(f"{text!r} is no letter")
    return "".join(_letter(one, alphabet) for one in text)


def _letter(letter: str, alphabet: str) -> str:
    if alphabet not in _STARTS or not letter.isascii():
        return letter
    if (elsewhere := _ELSEWHERE.get(alphabet, {}).get(letter)) is not None:
        return elsewhere
    capitals, small, digits = _STARTS[alphabet]
    if letter.isupper():
        return chr(capitals + ord(letter) - ord("A"))
    if letter.islower():
        return chr(small + ord(letter) - ord("a"))
    return chr(digits + int(letter)) if digits else letter
