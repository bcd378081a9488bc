"""What all tests share: the event loop, and examples that take as long as a busy machine needs."""

import pytest
from hypothesis import HealthCheck, settings

# On top of the profile Hypothesis chose itself: on a CI machine its examples are the same in every run.
settings.register_profile("house", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
