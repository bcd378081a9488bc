"""What all tests share: the event loop, and examples that take as long as a busy machine needs."""

import faulthandler
import signal
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

# On top of the profile Hypothesis chose itself: on a CI machine its examples are the same in every run.
settings.register_profile("house", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")

# A shell starts what it puts into the background with Ctrl-C ignored, and every process of a test would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

TEARDOWN_LIMIT = 120


@pytest.fixture(autouse=True)
def kernels_end_with_their_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test leaves a kernel, but those that say how long one is to stay."""
    monkeypatch.setenv("NBCC_KERNEL_IDLE", "0")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown() -> Generator[None, object, object]:
    """End the worker when a teardown hangs: the time limit of a test fires once, pytest's own watch ends with it."""
    faulthandler.dump_traceback_later(TEARDOWN_LIMIT, exit=True)
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()
