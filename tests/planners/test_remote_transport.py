"""Connections below the planner's client: used again, closed in time, and never mixing two answers up."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import httpx2
import pytest

from notebook_bcc.planners.remote.transport import AsyncioTransport

pytestmark = pytest.mark.anyio

Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Server:
    """Answers the n-th request with the n-th text, whatever was asked."""

    def __init__(self, *answers: bytes) -> None:
        self.answers = list(answers)
        self.requests: list[bytes] = []
        self.connections = 0
        self.closed = asyncio.Event()

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while self.answers:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0] or 0)
                self.requests.append(head + await reader.readexactly(length))
                answer = self.answers.pop(0)
                writer.write(answer)
                await writer.drain()
                if b"\r\n\r\n" not in answer or b"x-close" in answer:
                    break
            await reader.read(1 if not self.answers else 0)
        writer.close()
        self.closed.set()


@contextlib.asynccontextmanager
async def served(
    server: Server, *, trust: tuple[ssl.SSLContext, ssl.SSLContext] | None = None, keep_alive: float = 60.0
) -> AsyncIterator[httpx2.AsyncClient]:
    there, here = trust or (None, None)
    listener = await asyncio.start_server(server, "127.0.0.1", 0, ssl=there)
    port = listener.sockets[0].getsockname()[1]
    transport = AsyncioTransport(trust=here, keep_alive=keep_alive)
    address = f"{'https' if trust else 'http'}://localhost:{port}"
    async with (
        asyncio.timeout(60),
        listener,
        httpx2.AsyncClient(transport=transport, base_url=address, timeout=60) as client,
    ):
        yield client


def whole(text: str, *more: str) -> bytes:
    return "\r\n".join(["HTTP/1.1 200 OK", f"content-length: {len(text)}", *more, "", text]).encode()


async def test_a_connection_is_used_again_and_a_request_is_written_as_it_was_meant() -> None:
    server = Server(whole("one"), whole("two"))
    async with served(server) as client:
        first = await client.post("/a?b=c", content=b"body", headers={"x-id": "1"})
        second = await client.get("/d")
    assert (first.text, second.text, server.connections) == ("one", "two", 1)
    assert server.requests[0].startswith(b"POST /a?b=c HTTP/1.1\r\n")
    assert b"\r\nx-id: 1\r\n" in server.requests[0]
    assert server.requests[0].endswith(b"\r\n\r\nbody")


async def test_an_answer_that_nobody_read_does_not_reach_the_next_question() -> None:
    server = Server(whole("unread"), whole("two"))
    async with served(server) as client:
        async with client.stream("POST", "/"):
            pass
        assert (await client.get("/")).text == "two"


async def test_an_answer_closed_in_the_middle_takes_its_connection_with_it() -> None:
    server = Server(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf", whole("two"))
    async with served(server) as client:
        async with client.stream("POST", "/") as answer:
            assert await anext(answer.aiter_raw()) == b"half"
        assert (await client.get("/")).text == "two"
    assert server.connections == 2


async def test_interim_answers_are_passed_over() -> None:
    server = Server(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n" + whole("one"))
    async with served(server) as client:
        answer = await client.get("/")
    assert (answer.status_code, answer.text, "link" in answer.headers) == (200, "one", False)


async def test_an_answer_without_a_length_ends_with_its_connection() -> None:
    server = Server(b"HTTP/1.1 200 OK\r\nx-close: 1\r\n\r\nall of it")
    server.answers.append(b"")
    async with served(server) as client:
        assert (await client.get("/")).text == "all of it"


async def test_an_answer_with_a_length_does_not() -> None:
    server = Server(b"HTTP/1.1 200 OK\r\nx-close: 1\r\ncontent-length: 50\r\n\r\nnot all of it")
    server.answers.append(b"")
    async with served(server) as client:
        with pytest.raises(httpx2.RemoteProtocolError, match="middle"):
            await client.get("/")


async def test_what_nobody_asked_for_costs_the_connection_and_not_the_next_answer() -> None:
    server = Server(whole("one") + whole("smuggled"), whole("two"))
    async with served(server) as client:
        assert (await client.get("/")).text == "one"
        assert (await client.get("/")).text == "two"
    assert server.connections == 2


async def test_an_idle_connection_is_given_up_after_its_time() -> None:
    server = Server(whole("one"), whole("two"))
    async with served(server, keep_alive=0.0) as client:
        await client.get("/")
        await client.get("/")
    assert server.connections == 2


async def test_a_reader_that_takes_its_time_holds_the_server_back_and_loses_nothing() -> None:
    text = "x" * 8_000_000
    server = Server(whole(text))
    async with served(server) as client, client.stream("GET", "/") as answer:
        got = b""
        async for chunk in answer.aiter_raw():
            got += chunk
            await asyncio.sleep(0)
    assert got == text.encode()


async def test_chunks_that_arrive_together_are_handed_on_together() -> None:
    pieces = b"".join(b"3\r\n%03d\r\n" % number for number in range(500)) + b"0\r\n\r\n"
    server = Server(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + pieces)
    async with served(server) as client, client.stream("GET", "/") as answer:
        chunks = [chunk async for chunk in answer.aiter_raw()]
    assert b"".join(chunks) == b"".join(b"%03d" % number for number in range(500))
    assert len(chunks) < 100


async def test_nobody_listening_is_a_connect_error_with_its_cause() -> None:
    async with served(Server()) as client:
        port = client.base_url.port
    async with httpx2.AsyncClient(transport=AsyncioTransport(trust=None, keep_alive=1)) as client:
        with pytest.raises(httpx2.ConnectError) as caught:
            await client.get(f"http://127.0.0.1:{port}/")
    assert isinstance(caught.value.__cause__, ConnectionRefusedError)


@pytest.fixture
async def certificate(tmp_path: Path) -> Path:
    """A certificate for localhost and its key in one file, made here and trusted by nobody else."""
    made = tmp_path / "both.pem"
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl here to make a certificate with")
    subject = ("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost")
    kind = ("-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")
    process = await asyncio.create_subprocess_exec(
        *("openssl", "req", *kind, *subject, "-keyout", str(tmp_path / "key"), "-out", str(tmp_path / "crt")),
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert await process.wait() == 0
    made.write_bytes((tmp_path / "key").read_bytes() + (tmp_path / "crt").read_bytes())
    return made


async def test_tls_is_spoken_and_a_stranger_is_not_trusted(certificate: Path) -> None:
    there = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    there.load_cert_chain(certificate)
    knowing = ssl.create_default_context(cafile=str(certificate))
    server = Server(whole("one"), whole("two"))
    async with served(server, trust=(there, knowing)) as client:
        assert [(await client.get("/")).text for _ in range(2)] == ["one", "two"]
    assert server.connections == 1
    async with served(Server(whole("one")), trust=(there, ssl.create_default_context())) as client:
        with pytest.raises(httpx2.ConnectError) as caught:
            await client.get("/")
    assert isinstance(caught.value.__cause__, ssl.SSLError)
