"""Whether the built documentation site is whole and asks no other host for anything. Exits with 1 and the reasons.

Run: python .ci/check_site.py build/site
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import notebook_bcc

# What a browser fetches by itself. Links that a reader may follow are not among them.
_FETCHED = (
    re.compile(r"""<(?:script|img|iframe|source|audio|video|embed)\b[^>]*\bsrc=["']?((?:https?:)?//[^"'\s>]+)""", re.I),
    re.compile(r"""<link\b(?![^>]*rel=["']?(?:canonical|alternate))[^>]*\bhref=["']?((?:https?:)?//[^"'\s>]+)""", re.I),
    re.compile(r"""(?:url\(|@import\s+)["']?((?:https?:)?//[^"')\s]+)""", re.I),
)


def fetched_from_outside(text: str) -> list[str]:
    """The addresses of other hosts that a page or style sheet makes a browser fetch."""
    return [found[1] for pattern in _FETCHED for found in pattern.finditer(text)]


def problems(site: Path) -> list[str]:
    found = []
    for path in sorted(site.rglob("*")):
        if path.suffix in {".html", ".css"}:
            text = path.read_text(encoding="utf-8")
            found += [f"{path.relative_to(site)} fetches {address}" for address in fetched_from_outside(text)]
            # The theme would load a library from elsewhere to draw these.
            if re.search(r'<(?:pre|div)\b[^>]*class="mermaid"', text):
                found.append(f"{path.relative_to(site)} holds a diagram that needs a script from another host")
    for page in ("index.html", "tutorial.html", "zh/index.html", "zh/tutorial.html"):
        if not (site / page).is_file():
            found.append(f"{page} is missing")
    reference = site / "api.html"
    shown = reference.read_text(encoding="utf-8") if reference.is_file() else ""
    found += [
        f"the API reference lacks {name}" for name in notebook_bcc.__all__ if f'id="notebook_bcc.{name}"' not in shown
    ]
    return found


def main() -> None:
    found = problems(Path(sys.argv[1]))
    for problem in found:
        print(problem, file=sys.stderr)
    if found:
        sys.exit(1)
    print(f"{sys.argv[1]}: nothing is fetched from outside, every public name is in the reference")


if __name__ == "__main__":
    main()
