"""A page on paper: printed by a Chromium that is installed here. Nothing is loaded from anywhere."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from notebook_bcc.errors import NotebookFailed
from notebook_bcc.notebook.atomic import replace_file

BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_SECONDS: Final = 180.0
_FLAGS: Final = (
    "--headless",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--no-pdf-header-footer",
)


def print_page(page: str, target: Path) -> None:
    """Write the page as a PDF, atomically. Raises NotebookFailed, with the command that helps where no browser is."""
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        reason = (
            "a PDF is printed by Chromium, and there is none on the PATH; install it with `apt-get install chromium` "
            "(macOS: `brew install --cask chromium`), or print report.html from a browser of yours"
        )
        raise NotebookFailed(path=str(target), reason=reason)
    try:
        with tempfile.TemporaryDirectory(prefix="nbcc-pdf-") as place:
            folder = Path(place)
            folder.joinpath("page.html").write_text(page, encoding="utf-8")
            problem = _printed(browser, folder)
            made = folder / "page.pdf"
            if not made.is_file() or not made.stat().st_size:
                raise NotebookFailed(
                    path=str(target), reason=f"{browser} printed nothing: {problem or 'no reason given'}"
                )
            replace_file(target, [made.read_bytes()])
    except OSError as error:
        raise NotebookFailed(path=str(target), reason=f"it could not be printed: {error.strerror or error}") from error


def _printed(browser: str, folder: Path) -> str:
    """What the browser complained about in the end."""
    # Chromium's own sandbox refuses to run for root. The page holds no script and may load nothing.
    root = ("--no-sandbox",) if os.geteuid() == 0 else ()
    command = [
        browser,
        *_FLAGS,
        *root,
        f"--user-data-dir={folder / 'profile'}",
        f"--print-to-pdf={folder / 'page.pdf'}",
        folder.joinpath("page.html").as_uri(),
    ]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return f"it took more than {_SECONDS:g} seconds"
    said = done.stderr.decode(errors="replace").strip().splitlines()
    return said[-1][:300] if said else ""
