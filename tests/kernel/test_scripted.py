"""The double behaves as a kernel does, as far as an engine can tell."""

from __future__ import annotations

from typing import Any

import pytest

from notebook_bcc.errors import KernelDied, KernelStartFailed
from notebook_bcc.kernel.interface import Execution, Kernel, VariableChanges
from notebook_bcc.kernel.scripted import ScriptedKernel

pytestmark = pytest.mark.anyio


async def started(kernel: ScriptedKernel) -> ScriptedKernel:
    implements: Kernel = kernel
    await implements.start()
    return kernel


async def test_without_a_script_cells_are_really_run() -> None:
    kernel = await started(ScriptedKernel())
    seen: list[dict[str, Any]] = []
    execution = await kernel.execute("x = [1]\nprint('hello')\nx", on_output=seen.append)
    assert execution == Execution(
        outputs=(
            {"output_type": "stream", "name": "stdout", "text": "hello\n"},
            {"output_type": "execute_result", "data": {"text/plain": "[1]"}, "metadata": {}, "execution_count": 1},
        ),
        execution_count=1,
        variables=VariableChanges(updated={"x": [1]}),
    )
    assert tuple(seen) == execution.outputs
    assert (await kernel.execute("x.append(2)\ndel_me = 1")).variables.updated == {"x": [1, 2], "del_me": 1}
    assert (await kernel.execute("del del_me")).variables.removed == ("del_me",)


@pytest.mark.parametrize(
    ("source", "name"), [("1 / 0", "ZeroDivisionError"), ("def (:", "SyntaxError"), ("exit()", "SystemExit")]
)
async def test_a_failing_cell_is_data(source: str, name: str) -> None:
    kernel = await started(ScriptedKernel())
    execution = await kernel.execute(source)
    assert execution.error is not None
    assert execution.error.name == name
    assert execution.outputs[-1]["ename"] == name
    assert (await kernel.execute("1")).succeeded


async def test_a_script_decides_by_the_source() -> None:
    scripted = Execution(variables=VariableChanges(updated={"df": "DataFrame(3×2)"}))
    kernel = await started(ScriptedKernel({"load()": scripted}))
    execution = await kernel.execute("load()")
    assert (execution.variables, execution.execution_count) == (scripted.variables, 1)
    missing = await kernel.execute("other()")
    assert missing.error is not None
    assert missing.error.name == "NotScripted"
    assert kernel.executed == ["load()", "other()"]


async def test_a_script_may_be_a_function() -> None:
    kernel = await started(ScriptedKernel(lambda source: Execution(seconds=len(source))))
    assert (await kernel.execute("12345")).seconds == 5


async def test_summaries_work_as_in_a_kernel() -> None:
    kernel = await started(ScriptedKernel())
    await kernel.execute("log = list(range(10))")
    assert await kernel.summarize({"log": "last_2_only", "absent": "shape_only"}) == {"log": [8, 9]}


async def test_it_dies_when_it_is_told_to_and_can_be_restarted() -> None:
    kernel = await started(ScriptedKernel(dies_at={2}, cause="out of memory"))
    await kernel.execute("x = 1")
    for _ in range(2):
        with pytest.raises(KernelDied, match="out of memory"):
            await kernel.execute("x = 2")
    assert not kernel.is_alive
    await kernel.restart()
    execution = await kernel.execute("x")
    assert execution.error is not None
    assert execution.error.name == "NameError"


async def test_it_fails_to_start_when_it_is_told_to() -> None:
    with pytest.raises(KernelStartFailed, match="no licence"):
        await ScriptedKernel(start_failure="no licence").start()


async def test_before_start_and_after_close_it_is_no_kernel() -> None:
    kernel = ScriptedKernel()
    with pytest.raises(KernelDied):
        await kernel.execute("1")
    await kernel.start()
    await kernel.close()
    await kernel.close()
    assert not kernel.is_alive
    with pytest.raises(KernelDied):
        await kernel.summarize({})
