"""A run's page as one file: the page's own script in it, allowed by its hash, and the run as it is now."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html import escape
from typing import Final

from notebook_bcc.lifecycle.folder import RunFolder
from notebook_bcc.protocol.vocabulary import Language
from notebook_bcc.web.assets import static_text
from notebook_bcc.web.watch import RunWatch
from notebook_bcc.web.words import page_words

_MODULES: Final = ("view.js", "requests.js", "runs.js", "tabs.js", "run.js", "notices.js", "page.js")
_STYLES: Final = ("page.css", "cells.css")
_IMPORT: Final = re.compile(r"^import [^;\n]*;$", re.MULTILINE)
_EXPORT: Final = re.compile(r"^export ", re.MULTILINE)
_NAMES: Final = re.compile(r"export\{([^{}]*)\};")
_MAP: Final = re.compile(r"^//# sourceMappingURL=.*$", re.MULTILINE)


async def static_page(folder: RunFolder, language: Language, *, made: str) -> str:
    """The whole page. Raises JournalFailed, JournalCorrupt, JournalTooNew."""
    watch = RunWatch(folder)
    await watch.load()
    about = {"role": "watcher", "language": language, "words": page_words(language)}
    kept = json.dumps({"about": about, "page": watch.page(language), "made": made}).replace("<", "\\u003c")
    script = bundle()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'"
    )
    styles = "".join(static_text(name) for name in _STYLES)
    spoken = "zh-CN" if language == "zh" else "en"
    return f"""<!doctype html>
<html lang="{spoken}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(folder.run_id)}</title>
<style>
{styles}</style>
</head>
<body><div id="root"></div>
<script type="application/json" id="snapshot">{kept}</script>
<script type="module">{script}</script>
</body>
</html>
"""


def bundle() -> str:
    """The page's modules as one: a file that is opened from a disk may load no others."""
    preact = _MAP.sub("", static_text("vendor/preact.mjs"))
    parts = [f"const preact = (() => {{{_NAMES.sub(_returned, preact)}}})();"]
    library = static_text("vendor/htm.mjs").replace("export default function", "return function")
    parts.append(f"const htm = (() => {{{library}}})();")
    parts += [_EXPORT.sub("", _IMPORT.sub("", static_text(name))) for name in _MODULES]
    return "\n".join(parts)


def _returned(found: re.Match[str]) -> str:
    """`export{a as b}` as `return{b:a}`."""
    pairs = (one.strip().partition(" as ") for one in found[1].split(","))
    return f"return{{{','.join(f'{public or own}:{own}' for own, _, public in pairs)}}};"
