"""What all tests share: the event loop, and examples that take as long as a busy machine needs."""

import faulthandler
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

# On top of the profile Hypothesis chose itself: on a CI machine its examples are the same in every run.
settings.register_profile("house", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")

TEARDOWN_LIMIT = 120


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
