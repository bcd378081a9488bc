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
from notebook_bcc.errors import KernelDied, KernelFailed, KernelGone, KernelStartFailed
from notebook_bcc.kernel.interface import Execution
from notebook_bcc.kernel.jupyter_server.kernel import JupyterServerKernel
from notebook_bcc.kernel.outputs import OutputLimits
from notebook_bcc.protocol.cells import Output

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
    source = "for i in range(1000): print('line', i, flush=True)"
    await first.execute(source)
    await first.detach()
    kernel = JupyterServerKernel(proxy.url, token=stock.token)
    # Behind the handshake, in the middle of what is recalled.
    proxy.allowance = 20_000
    try:
        assert await asyncio.wait_for(kernel.attach(first.session, known=0, due=source), PATIENCE)
        execution = await asyncio.wait_for(kernel.execute(source), PATIENCE)
        assert proxy.was_cut.is_set()
        assert stdout(execution) == "".join(f"line {i}\n" for i in range(1000))
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


async def test_a_replaced_kernel_is_noticed_also_when_its_broadcasts_are_lost(stock: Server, proxy: Proxy) -> None:
    kernel = JupyterServerKernel(proxy.url, token=stock.token, name="mute")
    await kernel.start()
    mute = stock.kernels / "mute" / "mute"
    try:
        task = asyncio.create_task(
            kernel.execute("print(1, flush=True)\nimport time\ntime.sleep(600)", on_output=proxy.cut_once(refuse=True))
        )
        async with asyncio.timeout(PATIENCE):
            await proxy.was_cut.wait()
            mute.touch()
            await asyncio.to_thread(stock.ask, "POST", f"api/kernels/{kernel.session.split('/')[0]}/restart")
            proxy.refuses = False
            with pytest.raises(KernelDied, match="was replaced while the connection"):
                await task
    finally:
        mute.unlink(missing_ok=True)
        await kernel.close()


async def test_a_kernel_deleted_behind_our_back_is_noticed_when_the_connection_breaks(
    remote: JupyterServerKernel, stock: Server, proxy: Proxy
) -> None:
    await asyncio.to_thread(stock.ask, "DELETE", f"api/kernels/{remote.session.split('/')[0]}")
    proxy.cut()
    with pytest.raises(KernelDied, match="no longer has this kernel"):
        await asyncio.wait_for(remote.execute("1"), PATIENCE)


OTHER = """
import asyncio, sys
from notebook_bcc.kernel.jupyter_server.kernel import JupyterServerKernel

async def main():
    kernel = JupyterServerKernel(sys.argv[1], token=sys.stdin.readline().strip())
    await kernel.start()
    await kernel.execute("first = 1")
    print(kernel.session, flush=True)
    await kernel.execute(sys.argv[2], on_output=lambda _: print("output", flush=True))

asyncio.run(main())
"""


def killed_process(stock: Server, source: str) -> str:
    """The session of a process that was killed as soon as its cell had printed something."""
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
    return session.strip()


async def test_after_kill_9_another_process_receives_the_rest(stock: Server, stdout: Text, tmp_path: Path) -> None:
    go = tmp_path / "go"
    source = f"""print('begun', flush=True)
import pathlib, time
while not pathlib.Path({str(go)!r}).exists(): time.sleep(0.01)
for i in range(1000): print('line', i, flush=i % 100 == 0)
answer = first + 41
answer"""
    session = await asyncio.to_thread(killed_process, stock, source)
    stranger = JupyterServerKernel(stock.url, token=stock.token)
    with pytest.raises(KernelGone, match="knows nothing of this session"):
        await asyncio.wait_for(stranger.attach(session.split("/")[0] + "/another", known=1, due=source), PATIENCE)
    kernel = JupyterServerKernel(stock.url, token=stock.token)
    try:
        assert await asyncio.wait_for(kernel.attach(session, known=1, due=source), PATIENCE)
        seen: list[Output] = []
        task = asyncio.create_task(kernel.execute(source, on_output=seen.append))
        await eventually(lambda: bool(seen))
        go.write_text("")
        execution = await asyncio.wait_for(task, PATIENCE)
        assert stdout(execution) == "begun\n" + "".join(f"line {i}\n" for i in range(1000))
        assert "".join(output["text"] for output in seen if "text" in output) == stdout(execution)
        assert execution.execution_count == 2
        assert execution.variables.updated["answer"] == 42
        assert (await kernel.execute("answer")).execution_count == 3
    finally:
        go.write_text("")
        await kernel.close()


async def test_a_kernel_that_was_left_is_taken_up_only_as_it_is_known(stock: Server) -> None:
    first = JupyterServerKernel(stock.url, token=stock.token)
    await first.start()
    await first.execute("runs = 1")
    await first.execute("runs += 1")
    await first.detach()
    kernel = JupyterServerKernel(stock.url, token=stock.token)
    for known, due, reason in (
        (0, "runs += 1", "has run 2 cells, and 0 are known"),
        (3, None, "has run 2 cells, and 3 are known"),
        (1, None, "a cell that is not known of here"),
        (1, "runs = 1", "a cell that is not known of here"),
    ):
        with pytest.raises(KernelGone, match=reason):
            await asyncio.wait_for(kernel.attach(first.session, known=known, due=due), PATIENCE)
    assert not await asyncio.wait_for(kernel.attach(first.session, known=2, due="runs += 1"), PATIENCE)
    assert (await kernel.execute("runs += 1")).variables.updated == {"runs": 3}
    await kernel.detach()
    assert await asyncio.wait_for(kernel.attach(first.session, known=2, due="runs += 1"), PATIENCE)
    with pytest.raises(KernelDied, match="another cell than the one to be run"):
        await kernel.execute("runs = 0")
    with pytest.raises(KernelGone, match="has no kernel"):
        await kernel.attach(first.session, known=3, due=None)


async def test_a_kernel_that_cannot_be_asked_is_not_called_gone(stock: Server, proxy: Proxy) -> None:
    first = JupyterServerKernel(proxy.url, token=stock.token)
    await first.start()
    await first.detach()
    wrong = JupyterServerKernel(proxy.url, token="wrong-secret")
    kernel = JupyterServerKernel(proxy.url, token=stock.token, reconnect_limit=1.0)
    for one, answer, reason in ((wrong, True, "refused the token"), (kernel, False, "cannot be reached")):
        proxy.refuses = not answer
        with pytest.raises(KernelStartFailed, match=reason) as doubt:
            await one.attach(first.session, known=0, due=None)
        assert not isinstance(doubt.value, KernelGone)
        with pytest.raises(KernelFailed, match=reason):
            await one.discard(first.session)
    proxy.refuses = False
    assert await kernel.discard(first.session)
    assert first.session.split("/")[0] not in stock.kernel_ids()
