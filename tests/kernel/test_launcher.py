"""A kernel is started by way of a launcher, which may put something around its command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from notebook_bcc.errors import KernelStartFailed
from notebook_bcc.kernel.local.kernel import LocalKernel
from notebook_bcc.kernel.local.launcher import Launch, PlainLauncher

pytestmark = pytest.mark.anyio


class Changed:
    """A plain launch with something changed about it; keeps what it was asked for."""

    def __init__(self, *, seal: str, interrupt_by_message: bool = False) -> None:
        self._seal = seal
        self._by_message = interrupt_by_message
        self.asked: list[tuple[Sequence[str], Path, str | None]] = []

    def prepare(self, command: Sequence[str], *, folder: Path, cwd: str | None, env: Mapping[str, str]) -> Launch:
        self.asked.append((command, folder, cwd))
        plain = PlainLauncher().prepare(command, folder=folder, cwd=cwd, env={**env, "NBCC_TEST_LAUNCHED": "yes"})
        return replace(plain, seal=self._seal, interrupt_by_message=self._by_message)


async def test_the_plain_launcher_changes_nothing() -> None:
    launch = PlainLauncher().prepare(["a", "b"], folder=Path("f"), cwd="c", env={"x": "y"})

    assert launch == Launch(argv=("a", "b"), env={"x": "y"}, cwd="c")


async def test_a_launcher_gets_the_command_with_its_folder_and_its_seal_comes_before_any_cell(tmp_path: Path) -> None:
    launcher = Changed(seal="__import__('os').environ.update(SEALED='yes') is None", interrupt_by_message=True)
    kernel = LocalKernel(cwd=tmp_path, launcher=launcher)
    try:
        await kernel.start()
        said = await kernel.execute("import os; print(os.environ['NBCC_TEST_LAUNCHED'], os.environ['SEALED'])")
        stopped = await kernel.execute("while True: pass", time_limit=0.2)
    finally:
        await kernel.close()

    assert said.outputs[0]["text"] == "yes yes\n"
    assert stopped.error is not None
    assert stopped.error.name == "CellTimeout"
    ((command, folder, cwd),) = launcher.asked
    assert str(folder / "connection.json") in command
    assert cwd == str(tmp_path)


async def test_a_kernel_whose_seal_fails_is_not_used() -> None:
    kernel = LocalKernel(launcher=Changed(seal="False"))

    with pytest.raises(KernelStartFailed, match="could not be confined"):
        await kernel.start()

    assert not kernel.is_alive
