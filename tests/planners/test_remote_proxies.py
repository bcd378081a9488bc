"""The proxies that the environment names: the way to other machines, never the way to this one."""

from __future__ import annotations

import pytest

from notebook_bcc.errors import PlannerUnreachable, SettingsInvalid
from notebook_bcc.planners.remote.client import is_loopback
from notebook_bcc.planners.remote.planner import RemotePlanner
from notebook_bcc.protocol.messages import PlanningResponse, Request
from planners.fault_proxy import FaultProxy, status

pytestmark = pytest.mark.anyio

ANSWER = b'{"targetAchieved": true}'
# A name that no name server knows: only a proxy can have an answer for it.
SERVER = "planner.invalid"


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Without the proxies of the machine that the tests run on."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    return monkeypatch


async def judged_by(address: str) -> PlanningResponse:
    location = {"current": {"stage_id": "s", "step_id": "t"}, "progress": {}}
    planner = RemotePlanner(address)
    try:
        return await planner.plan(Request.parse({"observation": {"location": location}}))
    finally:
        await planner.close()


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
async def test_a_server_elsewhere_is_asked_through_the_proxy(environment: pytest.MonkeyPatch, name: str) -> None:
    async with FaultProxy() as proxy:
        environment.setenv(name, proxy.url.replace("//", "//me:hidden@"))
        proxy.fail(f"http://{SERVER}/planning", status("200 OK", ANSWER))
        assert (await judged_by(f"http://{SERVER}")).target_achieved
        (heard,) = proxy.heard
        assert heard.headers["host"] == SERVER
        assert heard.headers["proxy-authorization"].startswith("Basic ")


async def test_a_tunnel_to_an_https_server_is_asked_for_and_its_refusal_is_named(
    environment: pytest.MonkeyPatch,
) -> None:
    async with FaultProxy() as proxy:
        environment.setenv("HTTPS_PROXY", proxy.url.replace("//", "//me:hidden@"))
        proxy.fail(f"{SERVER}:443", status("407 Proxy Authentication Required"))
        with pytest.raises(PlannerUnreachable, match=r"the proxy refused: 407 .*check HTTPS_PROXY") as refused:
            await judged_by(f"https://{SERVER}")
        assert "hidden" not in repr(refused.value)
        (heard,) = proxy.heard
        assert (heard.method, heard.path) == ("CONNECT", f"{SERVER}:443")


@pytest.mark.parametrize("exempt", [SERVER, ".invalid", "*", f"other.invalid, {SERVER}"])
async def test_a_server_that_no_proxy_names_is_asked_directly(environment: pytest.MonkeyPatch, exempt: str) -> None:
    async with FaultProxy() as proxy:
        environment.setenv("HTTP_PROXY", proxy.url)
        environment.setenv("NO_PROXY", exempt)
        with pytest.raises(PlannerUnreachable):
            await judged_by(f"http://{SERVER}")
        assert proxy.connections == 0


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.1"])
async def test_this_machine_is_never_asked_through_a_proxy(environment: pytest.MonkeyPatch, host: str) -> None:
    async with FaultProxy() as proxy, FaultProxy() as server:
        environment.setenv("HTTP_PROXY", proxy.url)
        environment.setenv("ALL_PROXY", proxy.url)
        server.fail("/planning", status("200 OK", ANSWER))
        assert (await judged_by(server.url.replace("127.0.0.1", host))).target_achieved
        assert (server.connections, proxy.connections) == (1, 0)


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("localhost", True),
        ("LOCALHOST.", True),
        ("planner.localhost", True),
        ("127.0.0.1", True),
        ("127.8.9.10", True),
        ("127.1", True),
        ("0.0.0.0", True),
        ("::1", True),
        ("::", True),
        ("::ffff:127.0.0.1", True),
        ("notlocalhost", False),
        ("localhost.example", False),
        ("10.0.0.1", False),
        ("::ffff:10.0.0.1", False),
        ("127.example", False),
        ("", False),
    ],
)
def test_loopback_is_told_by_the_address_alone(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


def test_a_proxy_that_cannot_be_used_is_refused_without_showing_it(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("HTTP_PROXY", "gopher://me:hidden@proxy")
    with pytest.raises(SettingsInvalid, match="HTTP_PROXY") as refused:
        RemotePlanner(f"http://{SERVER}")
    assert "hidden" not in str(refused.value)
    RemotePlanner("http://127.0.0.1:1")
