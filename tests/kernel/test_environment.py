"""What a kernel inherits of our environment, and what it does not."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import notebook_bcc
from notebook_bcc.kernel.local.kernel import LocalKernel
from notebook_bcc.protocol.secret_variables import SECRET_VARIABLES

pytestmark = pytest.mark.anyio

SOURCE = Path(notebook_bcc.__file__).parent
NAMED = re.compile(r"[A-Z][A-Z0-9_]*_(?:KEY|TOKEN|SECRET|PASSWORD)")


async def said_by(source: str) -> str:
    """What a cell puts out in a kernel of its own."""
    kernel = LocalKernel()
    await kernel.start()
    try:
        return str((await kernel.execute(source)).outputs)
    finally:
        await kernel.close()


async def test_no_key_of_ours_reaches_a_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in SECRET_VARIABLES:
        monkeypatch.setenv(name, "sk-hush-hush")
    monkeypatch.setenv("NBCC_TEST_OTHER", "kept")
    said = await said_by("import os\nprint(os.environ)\nprint(open('/proc/self/environ').read())")
    assert "hush" not in said
    assert "NBCC_TEST_OTHER" in said


def test_every_key_and_token_that_the_source_names_is_kept_from_cells() -> None:
    texts = [
        node.value
        for path in SOURCE.rglob("*.py")
        if "playbooks" not in path.relative_to(SOURCE).parts
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    found = {name for text in texts for name in NAMED.findall(text)}
    assert found == SECRET_VARIABLES


async def test_figures_are_shown_whatever_backend_our_shell_asks_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "agg")
    assert "image/png" in await said_by("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()")


@pytest.mark.parametrize(("asked", "spin"), [(None, "1000"), ("PASSIVE", "None")])
async def test_threads_that_wait_spin_shortly_unless_our_shell_asks_for_something_else(
    monkeypatch: pytest.MonkeyPatch, asked: str | None, spin: str
) -> None:
    monkeypatch.delenv("GOMP_SPINCOUNT", raising=False)
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    if asked is not None:
        monkeypatch.setenv("OMP_WAIT_POLICY", asked)
    assert f"spins {spin}" in await said_by("import os\nprint('spins', os.environ.get('GOMP_SPINCOUNT'))")
