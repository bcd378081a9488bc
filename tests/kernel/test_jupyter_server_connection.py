"""Connections that break, servers that drop output, processes that are killed: what was printed arrives."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from kernel.servers import PATIENCE, Proxy, Server, eventually, proxy_to
from notebook_bcc.errors import KernelDied, KernelStartFailed
from notebook_bcc.kernel.interface import Execution
from notebook_bcc.kernel.jupyter_server import JupyterServerKernel
from notebook_bcc.kernel.outputs import OutputLimits

pytestmark = pytest.mark.anyio
Text = Callable[[Execution], str]

LINES = [str(i) for i in range(20_000)]


@pytest.fixture
async def proxy(stock: Server) -> AsyncIterator[Proxy]:
    async with proxy_to(stock) as proxy:
        yield proxy


@pytest.fixture
async def remote(stock: Server, proxy: Proxy) -> AsyncIterator[JupyterServerKernel]:
    kernel = JupyterServerKernel(proxy.url, token=stock.token)
    await kernel.start()
    yield kernel
    await kernel.close()


async def test_cuts_in_the_middle_of_20000_lines_lose_none(
    remote: JupyterServerKernel, proxy: Proxy, stdout: Text
) -> None:
    pieces = 0

    def on_output(_: object) -> None:
        nonlocal pieces
        pieces += 1
        if pieces in (5, 100, 300):
            # A while after this, in the middle of a message.
            proxy.allowance = 10_007

    before = proxy.connections
    execution = await asyncio.wait_for(
        remote.execute("for i in range(20_000): print('line', i, flush=i % 10 == 0)", on_output=on_output), PATIENCE
    )
    assert re.findall(r"line (\d+)\n", stdout(execution)) == LINES
    assert execution.outputs == ({"output_type": "stream", "name": "stdout", "text": stdout(execution)},)
    assert execution.dropped_bytes == 0
    assert proxy.connections > before
    assert (await remote.execute("i")).outputs[0]["data"] == {"text/plain": "19999"}


async def test_a_cell_that_ends_while_nobody_is_connected_is_received(
    remote: JupyterServerKernel, proxy: Proxy, stdout: Text, tmp_path: Path
) -> None:
    ended = tmp_path / "ended"

    source = f"""
print('begun', flush=True)
import pathlib, time
time.sleep(0.5)
for i in range(1000): print('line', i, flush=True)
answer = 42
pathlib.Path({str(ended)!r}).write_text('')
"""
    task = asyncio.create_task(remote.execute(source, on_output=proxy.cut_once(refuse=True)))
    await eventually(ended.exists)
    proxy.refuses = False
    execution = await asyncio.wait_for(task, PATIENCE)
    assert stdout(execution) == "begun\n" + "".join(f"line {i}\n" for i in range(1000))
    assert execution.variables.updated["answer"] == 42


async def test_a_request_lost_on_the_way_is_sent_again_and_carried_out_once(
    remote: JupyterServerKernel, proxy: Proxy
) -> None:
    await remote.execute("runs = 0")
    for expected in range(1, 6):
        task = asyncio.create_task(remote.execute("runs += 1\nruns"))
        for _ in range(expected):
            await asyncio.sleep(0)
        proxy.cut()
        execution = await asyncio.wait_for(task, PATIENCE)
        assert execution.outputs[0]["data"] == {"text/plain": str(expected)}


async def test_a_cut_while_a_kernel_is_taken_up_changes_nothing(stock: Server, proxy: Proxy, stdout: Text) -> None:
    first = JupyterServerKernel(proxy.url, token=stock.token)
    await first.start()
    await first.execute("for i in range(1000): print('line', i, flush=True)")
    kernel_id, session_id = first.session.split("/")
    await first.detach()
    kernel = JupyterServerKernel(proxy.url, token=stock.token, kernel_id=kernel_id, session_id=session_id)
    # Behind the handshake, in the middle of what is recalled.
    proxy.allowance = 20_000
    try:
        left = await asyncio.wait_for(kernel.attach(), PATIENCE)
        assert left is not None
        assert proxy.was_cut.is_set()
        assert stdout(left.execution) == "".join(f"line {i}\n" for i in range(1000))
    finally:
        await kernel.close()


async def test_output_that_a_stock_server_drops_is_asked_for_again(
    remote: JupyterServerKernel, stdout: Text, stderr: Text
) -> None:
    execution = await remote.execute("for i in range(90): print('x' * 99_999)")
    assert len(stdout(execution)) == 9_000_000
    assert stderr(execution) == ""
    assert execution.dropped_bytes == 0
    many = await remote.execute("for i in range(5_000): print('line', i, flush=True)")
    assert re.findall(r"line (\d+)\n", stdout(many)) == LINES[:5_000]


async def test_output_beyond_what_the_kernel_keeps_is_marked_as_lost(stock: Server, stdout: Text, stderr: Text) -> None:
    kernel = JupyterServerKernel(stock.url, token=stock.token, output_limits=OutputLimits(cell=1_000_000))
    await kernel.start()
    try:
        execution = await kernel.execute("for i in range(200): print('x' * 99_999, flush=True)")
        assert execution.succeeded
        assert len(stdout(execution)) + execution.dropped_bytes >= 20_000_000
        assert "cut here" in stdout(execution) + stderr(execution)
    finally:
        await kernel.close()


async def test_a_kernel_without_our_ledger_has_losses_marked(stock: Server, proxy: Proxy, stderr: Text) -> None:
    kernel = JupyterServerKernel(proxy.url, token=stock.token, name="toy")
    await kernel.start()
    try:
        limited = await kernel.execute("40 " + "x" * 100_000)
        assert "output was lost here" in stderr(limited)
        cut = await asyncio.wait_for(kernel.execute("10 slowly", on_output=proxy.cut_once()), PATIENCE)
        assert "the connection to the Jupyter server broke here" in stderr(cut)
    finally:
        await kernel.close()


async def test_a_server_that_stays_away_is_given_up(stock: Server, proxy: Proxy) -> None:
    kernel = JupyterServerKernel(proxy.url, token=stock.token, reconnect_limit=0.5)
    await kernel.start()

    with pytest.raises(KernelDied, match=r"is lost: .*; tried for") as died:
        await asyncio.wait_for(
            kernel.execute("print(1, flush=True)\nimport time\ntime.sleep(600)", on_output=proxy.cut_once(refuse=True)),
            PATIENCE,
        )
    assert died.value.outputs[0]["text"] == "1\n"
    assert not kernel.is_alive
    proxy.refuses = False
    await kernel.close()
    assert kernel.session.split("/")[0] not in stock.kernel_ids()


async def test_a_kernel_replaced_behind_our_back_runs_nothing_of_ours(
    remote: JupyterServerKernel, stock: Server, proxy: Proxy, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    pid = int((await remote.execute("import os; os.getpid()")).outputs[0]["data"]["text/plain"])
    source = f"open({str(log)!r}, 'a').write('ran\\n')\nprint(1, flush=True)\nimport time\ntime.sleep(600)"

    task = asyncio.create_task(remote.execute(source, on_output=proxy.cut_once(refuse=True)))
    async with asyncio.timeout(PATIENCE):
        await proxy.was_cut.wait()
        os.kill(pid, signal.SIGKILL)
        await asyncio.to_thread(stock.ask, "POST", f"api/kernels/{remote.session.split('/')[0]}/restart")
        proxy.refuses = False
        with pytest.raises(KernelDied, match="was replaced while the connection"):
            await task
    assert log.read_text() == "ran\n"
    with pytest.raises(KernelDied):
        await remote.execute("1")


async def test_a_kernel_deleted_behind_our_back_is_noticed_when_the_connection_breaks(
    remote: JupyterServerKernel, stock: Server, proxy: Proxy
) -> None:
    await asyncio.to_thread(stock.ask, "DELETE", f"api/kernels/{remote.session.split('/')[0]}")
    proxy.cut()
    with pytest.raises(KernelDied, match="no longer has this kernel"):
        await asyncio.wait_for(remote.execute("1"), PATIENCE)


OTHER = """
import asyncio, sys
from notebook_bcc.kernel.jupyter_server import JupyterServerKernel

async def main():
    kernel = JupyterServerKernel(sys.argv[1], token=sys.stdin.readline().strip())
    await kernel.start()
    await kernel.execute("first = 1")
    print(kernel.session, flush=True)
    await kernel.execute(sys.argv[2], on_output=lambda _: print("output", flush=True))

asyncio.run(main())
"""


def killed_process(stock: Server, source: str) -> list[str]:
    """The kernel id and session id of a process that was killed as soon as its cell had printed something."""
    process = subprocess.Popen(
        [sys.executable, "-c", OTHER, stock.url, source], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(stock.token + "\n")
        process.stdin.flush()
        session = process.stdout.readline()
        assert process.stdout.readline() == "output\n"
    finally:
        process.kill()
        process.communicate()
    return session.strip().split("/")


async def test_after_kill_9_another_process_receives_the_rest(stock: Server, stdout: Text, tmp_path: Path) -> None:
    go = tmp_path / "go"
    source = f"""print('begun', flush=True)
import pathlib, time
while not pathlib.Path({str(go)!r}).exists(): time.sleep(0.01)
for i in range(1000): print('line', i, flush=i % 100 == 0)
answer = first + 41
answer"""
    kernel_id, session_id = await asyncio.to_thread(killed_process, stock, source)
    stranger = JupyterServerKernel(stock.url, token=stock.token, kernel_id=kernel_id, session_id="another")
    with pytest.raises(KernelStartFailed, match="knows nothing of this session"):
        await asyncio.wait_for(stranger.attach(), PATIENCE)
    kernel = JupyterServerKernel(stock.url, token=stock.token, kernel_id=kernel_id, session_id=session_id)
    try:
        task = asyncio.create_task(kernel.attach())
        await eventually(lambda: kernel.is_alive)
        go.write_text("")
        left = await asyncio.wait_for(task, PATIENCE)
        assert left is not None
        assert left.source == source
        assert stdout(left.execution) == "begun\n" + "".join(f"line {i}\n" for i in range(1000))
        assert left.execution.execution_count == 2
        assert left.execution.variables.updated["answer"] == 42
        assert (await kernel.execute("answer")).execution_count == 3
    finally:
        go.write_text("")
        await kernel.close()
