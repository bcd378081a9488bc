"""A real kernel per test, ended with it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from kernel.servers import gateway as gateway
from kernel.servers import stock as stock
from notebook_bcc.kernel.interface import Execution
from notebook_bcc.kernel.local.kernel import LocalKernel


@pytest.fixture
async def kernel() -> AsyncIterator[LocalKernel]:
    kernel = LocalKernel()
    await kernel.start()
    yield kernel
    await kernel.close()


@pytest.fixture
def stdout() -> Callable[[Execution], str]:
    return lambda execution: stream_text(execution, "stdout")


@pytest.fixture
def stderr() -> Callable[[Execution], str]:
    return lambda execution: stream_text(execution, "stderr")


def stream_text(execution: Execution, name: str) -> str:
    outputs: tuple[dict[str, Any], ...] = execution.outputs
    return "".join(output["text"] for output in outputs if output.get("name") == name)
