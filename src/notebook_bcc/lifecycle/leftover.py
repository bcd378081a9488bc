"""A kernel that outlived the process that used it: ended once nobody will take it up any more."""

from __future__ import annotations

from notebook_bcc.engine.rebuilding import abandon
from notebook_bcc.engine.state import RunState
from notebook_bcc.journal.records import KernelAbandoned
from notebook_bcc.kernel.interface import LastingKernel
from notebook_bcc.lifecycle.factories import RunFactories
from notebook_bcc.lifecycle.folder import RunFolder


async def end_left_kernel(
    state: RunState, folder: RunFolder, *, reason: str, factories: RunFactories
) -> KernelAbandoned | None:
    """End the kernel that the journal names, if it still exists. The record says whether it is ended, else why not."""
    if not state.kernel.session:
        return None
    kernel = factories.make_kernel(state.kernel_spec, cwd=folder.work, output_bytes=0, run=folder)
    return await abandon(kernel, state.kernel.session, reason) if isinstance(kernel, LastingKernel) else None
