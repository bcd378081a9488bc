"""What a kernel inherits of our environment, and what it does not."""

from __future__ import annotations

import pytest

from notebook_bcc.kernel.local import LocalKernel

pytestmark = pytest.mark.anyio

KEYS = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "NBCC_LLM_KEY", "DSLC_TOKEN", "BACKEND_TOKEN"]


async def test_no_key_of_ours_reaches_a_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS:
        monkeypatch.setenv(name, "sk-hush-hush")
    monkeypatch.setenv("NBCC_TEST_OTHER", "kept")
    kernel = LocalKernel()
    await kernel.start()
    try:
        execution = await kernel.execute("import os\nprint(os.environ)\nprint(open('/proc/self/environ').read())")
    finally:
        await kernel.close()
    said = str(execution)
    assert "hush" not in said
    assert "NBCC_TEST_OTHER" in said


async def test_figures_are_shown_whatever_backend_our_shell_asks_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "agg")
    kernel = LocalKernel()
    await kernel.start()
    try:
        execution = await kernel.execute("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()")
    finally:
        await kernel.close()
    assert "image/png" in str(execution.outputs)


@pytest.mark.parametrize(("asked", "spin"), [(None, "'1000'"), ("PASSIVE", "None")])
async def test_threads_that_wait_spin_shortly_unless_our_shell_asks_for_something_else(
    monkeypatch: pytest.MonkeyPatch, asked: str | None, spin: str
) -> None:
    monkeypatch.delenv("GOMP_SPINCOUNT", raising=False)
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    if asked is not None:
        monkeypatch.setenv("OMP_WAIT_POLICY", asked)
    kernel = LocalKernel()
    await kernel.start()
    try:
        execution = await kernel.execute("import os\nprint(repr(os.environ.get('GOMP_SPINCOUNT')))")
    finally:
        await kernel.close()
    assert spin in str(execution.outputs)
