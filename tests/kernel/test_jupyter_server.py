"""A kernel behind a real Jupyter Server and a real kernel gateway behaves as a local one does."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from kernel.servers import PATIENCE, Server, eventually, free_port
from notebook_bcc.errors import KernelDied, KernelGone, KernelStartFailed
from notebook_bcc.kernel.interface import Execution, Kernel
from notebook_bcc.kernel.jupyter_server.kernel import JupyterServerKernel
from notebook_bcc.kernel.outputs import OutputLimits
from notebook_bcc.protocol.cells import Output

pytestmark = pytest.mark.anyio
Text = Callable[[Execution], str]


@pytest.fixture
async def remote(stock: Server) -> AsyncIterator[JupyterServerKernel]:
    kernel = JupyterServerKernel(stock.url, token=stock.token, path="inner")
    await kernel.start()
    yield kernel
    await kernel.close()


async def test_cells_bring_outputs_counts_variables_and_errors(
    remote: JupyterServerKernel, stock: Server, stdout: Text
) -> None:
    implements: Kernel = remote
    assert implements.is_alive
    assert remote.identity.language == "python"
    assert remote.identity.display_name
    first = await remote.execute("x = 20\nprint('hello')\nx + 1")
    assert first.outputs == (
        {"output_type": "stream", "name": "stdout", "text": "hello\n"},
        {"output_type": "execute_result", "data": {"text/plain": "21"}, "metadata": {}, "execution_count": 1},
    )
    assert first.variables.updated == {"x": 20}
    assert first.dropped_bytes == 0
    failing = await remote.execute("before = 'kept'\nraise ValueError('no')")
    assert failing.error is not None
    assert (failing.error.name, failing.error.message) == ("ValueError", "no")
    assert failing.variables.updated == {"before": "kept"}
    assert failing.outputs[-1]["output_type"] == "error"
    # One request a cell: nothing of ours takes a number.
    assert (await remote.execute("del x")).execution_count == 3
    where = await remote.execute("import os; print(os.getcwd())")
    assert stdout(where).strip() == str(stock.root / "inner")


async def test_a_cell_cannot_ask_leave_or_write_past_its_outputs(
    remote: JupyterServerKernel, stdout: Text, stderr: Text
) -> None:
    asked = await remote.execute("input('your name? ')")
    assert asked.error is not None
    assert asked.error.name == "StdinNotImplementedError"
    left = await remote.execute("exit()")
    assert left.error is not None
    assert left.error.name == "SystemExit"
    below = await remote.execute("import os; os.system('echo out; echo err >&2'); print('after')")
    assert stdout(below) == "out\nafter\n"
    assert stderr(below) == "err\n"


async def test_a_forked_process_prints_into_its_cell_and_leaves_at_its_end(
    remote: JupyterServerKernel, stdout: Text
) -> None:
    fork = "import os\npid = os.fork()\nprint(os.waitpid(pid, 0)[1] if pid else 'child')"
    for number in range(3):
        assert stdout(await remote.execute(fork, time_limit=30)) == "child\n0\n"
        assert stdout(await remote.execute(f"print({number})")) == f"{number}\n"


async def test_displays_are_updated_and_late_output_is_handed_over(stock: Server) -> None:
    late: list[tuple[int | None, Output]] = []
    seen: list[Output] = []
    kernel = JupyterServerKernel(
        stock.url, token=stock.token, on_late_output=lambda count, output: late.append((count, output))
    )
    await kernel.start()
    try:
        shown = await kernel.execute(
            "handle = display('one', display_id=True)\nprint('between', flush=True)\nhandle.update('two')",
            on_output=seen.append,
        )
        assert shown.outputs[0]["data"] == {"text/plain": "'two'"}
        await eventually(lambda: len(seen) == 3)
        threaded = "import threading\ngo = threading.Event()\n"
        threaded += "threading.Thread(target=lambda: (go.wait(30), print('later', flush=True))).start()"
        await kernel.execute(threaded)
        await kernel.execute("go.set()")
        await eventually(lambda: "".join(output.get("text", "") for _, output in late) == "later\n")
        await kernel.execute("handle.update('three')")
        await eventually(lambda: any(output.get("data") == {"text/plain": "'three'"} for _, output in late))
        assert {count for count, _ in late} == {1, 2}
    finally:
        await kernel.close()


async def test_outputs_are_held_to_their_limit(stock: Server, stdout: Text) -> None:
    kernel = JupyterServerKernel(stock.url, token=stock.token, output_limits=OutputLimits(cell=10_000))
    await kernel.start()
    try:
        execution = await kernel.execute("print('x' * 100_000)")
        assert execution.dropped_bytes == 90_001
        assert len(stdout(execution)) < 10_200
    finally:
        await kernel.close()


async def test_variables_are_summarised(remote: JupyterServerKernel) -> None:
    await remote.execute("draft = list(range(1000))")
    assert await remote.summarize({"draft": "last_2_only", "missing": "shape_only"}) == {"draft": [998, 999]}


async def test_a_cell_over_its_time_is_interrupted_and_a_cancelled_one_too(remote: JupyterServerKernel) -> None:
    slow = await remote.execute("print('begun', flush=True)\nimport time\ntime.sleep(600)", time_limit=1.0)
    assert slow.error is not None
    assert slow.error.name == "CellTimeout"
    assert slow.outputs[0]["text"] == "begun\n"
    begun = asyncio.Event()
    task = asyncio.create_task(
        remote.execute("kept = 1\nprint('go', flush=True)\ntime.sleep(600)", on_output=lambda _: begun.set())
    )
    await asyncio.wait_for(begun.wait(), PATIENCE)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await remote.execute("kept")).outputs[0]["data"] == {"text/plain": "1"}


async def test_a_stubborn_cell_costs_the_kernel_its_life_and_a_restart_gives_another(stock: Server) -> None:
    kernel = JupyterServerKernel(stock.url, token=stock.token, interrupt_grace=1.0)
    await kernel.start()
    try:
        before = kernel.session
        stubborn = "import time\nprint('here', flush=True)\nwhile True:\n    try:\n        time.sleep(600)\n"
        stubborn += "    except KeyboardInterrupt:\n        pass"
        with pytest.raises(KernelDied, match="did not stop when it was interrupted and was ended") as died:
            await kernel.execute(stubborn, time_limit=1.0)
        assert died.value.outputs[0]["text"] == "here\n"
        assert before.split("/")[0] not in stock.kernel_ids()
        await kernel.restart()
        assert kernel.session != before
        assert (await kernel.execute("'time' in dir()")).outputs[0]["data"] == {"text/plain": "False"}
    finally:
        await kernel.close()


async def test_a_kernel_that_dies_says_why_and_keeps_what_it_printed(remote: JupyterServerKernel) -> None:
    source = "print('last words', flush=True)\nimport os, time\ntime.sleep(1)\nos.kill(os.getpid(), 9)"
    with pytest.raises(KernelDied, match="its process ended") as died:
        await asyncio.wait_for(remote.execute(source), PATIENCE)
    assert died.value.outputs[0]["text"] == "last words\n"
    assert not remote.is_alive
    with pytest.raises(KernelDied, match="its process ended"):
        await remote.execute("1")
    await remote.restart()
    assert (await remote.execute("1 + 1")).succeeded


async def test_closing_deletes_the_kernel_and_detaching_does_not(stock: Server) -> None:
    kernel = JupyterServerKernel(stock.url, token=stock.token)
    await kernel.start()
    session, kernel_id = kernel.session, kernel.session.split("/")[0]
    await kernel.execute("kept = 7")
    await kernel.detach()
    assert not kernel.is_alive
    assert kernel_id in stock.kernel_ids()
    again = JupyterServerKernel(stock.url, token=stock.token)
    assert await again.attach(session, known=0, due="kept = 7")
    assert again.identity.session == session
    assert (await again.execute("kept = 7")).variables.updated == {"kept": 7}
    assert (await again.execute("kept + 1")).outputs[0]["data"] == {"text/plain": "8"}
    await again.close()
    await again.close()
    assert kernel_id not in stock.kernel_ids()
    with pytest.raises(KernelDied, match="was closed"):
        await again.execute("1")
    with pytest.raises(KernelGone, match="has no kernel"):
        await again.attach(session, known=2, due=None)
    assert not await again.discard(session)


async def test_what_cannot_start_says_why_and_keeps_the_token_to_itself(stock: Server) -> None:
    wrong = JupyterServerKernel(stock.url, token="wrong-secret")
    with pytest.raises(KernelStartFailed, match="refused the token") as refused:
        await wrong.start()
    assert "wrong-secret" not in f"{refused.value!r} {wrong!r} {vars(wrong)}"
    with pytest.raises(KernelStartFailed, match="has no such kernel; it has: mute, python3, toy"):
        await JupyterServerKernel(stock.url, token=stock.token, name="cobol").start()
    with pytest.raises(KernelStartFailed, match="cannot be reached"):
        await JupyterServerKernel(f"http://127.0.0.1:{free_port()}", token="t").start()
    with pytest.raises(KernelGone, match="is not `<kernel id>/<session id>`"):
        await JupyterServerKernel(stock.url, token=stock.token).attach("nothing", known=0, due=None)


async def test_a_gateway_with_the_older_protocol_serves_as_well(gateway: Server, stdout: Text) -> None:
    kernel = JupyterServerKernel(gateway.url + "/", token=gateway.token)
    await kernel.start()
    try:
        execution = await kernel.execute("名 = 'ü' * 3\nprint(名)\ndisplay({'text/html': '<b>'}, raw=True)\n名")
        assert stdout(execution) == "üüü\n"
        assert execution.outputs[1]["data"] == {"text/html": "<b>"}
        assert execution.variables.updated == {"名": "üüü"}
        large = await kernel.execute("for i in range(20_000): print('line', i)")
        assert re.findall(r"line (\d+)\n", stdout(large)) == [str(i) for i in range(20_000)]
        slow = await kernel.execute("import time; time.sleep(600)", time_limit=0.5)
        assert slow.error is not None
        assert slow.error.name == "CellTimeout"
        await kernel.restart()
        assert (await kernel.execute("1")).execution_count == 1
    finally:
        await kernel.close()
    assert gateway.kernel_ids() == set()


async def test_another_language_runs_cells_without_variables(stock: Server) -> None:
    kernel = JupyterServerKernel(stock.url, token=stock.token, name="toy")
    await kernel.start()
    try:
        assert kernel.identity.language == "toy"
        execution = await kernel.execute("2 moo")
        outputs: tuple[dict[str, Any], ...] = execution.outputs
        assert outputs == ({"output_type": "stream", "name": "stdout", "text": "moo 0\nmoo 1\n"},)
        assert await kernel.summarize({"x": "shape_only"}) == {}
    finally:
        await kernel.close()
