"""The one place that picks implementations: which kernel, which planner, which clock."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from notebook_bcc.engine.registry import ActionRegistry
from notebook_bcc.errors import MessageInvalid, RunRefused
from notebook_bcc.journal.records import Limits, Policies
from notebook_bcc.kernel.interface import Kernel
from notebook_bcc.kernel.local import LocalKernel
from notebook_bcc.kernel.outputs import OutputLimits
from notebook_bcc.kernel.process import find_kernelspec
from notebook_bcc.planners.interface import Planner
from notebook_bcc.planners.script import Script
from notebook_bcc.planners.script_file import parse_script, read_script
from notebook_bcc.planners.scripted import ScriptedPlanner
from notebook_bcc.runs.folder import Input, RunFolder
from notebook_bcc.runs.lifecycle import RunOrder, read_entries
from notebook_bcc.runs.recording import Recording, read_recording
from notebook_bcc.runs.workshop import KernelWish, Workshop

# How a run's first record names its planner; what follows the colon is where the planner finds its answers.
SCRIPT_PLANNER = "script"
REPLAY_PLANNER = "replay:"


def workshop() -> Workshop:
    """The tools that runs of this installation are carried out with."""
    return Workshop(
        make_kernel=make_kernel, make_planner=make_planner, make_registry=ActionRegistry, now=lambda: datetime.now(UTC)
    )


def make_kernel(wish: KernelWish) -> Kernel:
    """A kernel in a process of ours, not started."""
    usual = OutputLimits()
    limits = replace(usual, cell=wish.output_bytes, text=wish.output_bytes) if wish.output_bytes else usual
    return LocalKernel(name=wish.name, cwd=wish.cwd, output_limits=limits)


async def make_planner(spec: str, folder: RunFolder) -> Planner:
    """The planner that a run's first record names. Raises MessageInvalid, RunRefused, JournalFailed."""
    if spec == SCRIPT_PLANNER:
        return ScriptedPlanner.from_script(_kept_script(folder))
    if spec.startswith(REPLAY_PLANNER):
        source = RunFolder(Path(spec.removeprefix(REPLAY_PLANNER)))
        recording = await read_recording(read_entries(source))
        own = [entry async for entry in read_entries(folder)]
        return recording.planner(asked=own)
    raise RunRefused(f"run {folder.run_id!r} was planned by {spec!r}, which this version does not know")


def script_order(
    path: Path,
    *,
    policies: Policies,
    limits: Limits,
    name: str = "",
    goal: str = "",
    kernel: str = "python3",
    out: Path | None = None,
    overwrite: bool = False,
) -> RunOrder:
    """The order for a run of a script. Everything is checked here, before anything exists on disk.

    Raises MessageInvalid, PlanInvalid, KernelStartFailed.
    """
    script = read_script(path)
    ScriptedPlanner.from_script(script)
    find_kernelspec(kernel)
    return RunOrder(
        name=name or script.workflow.name or path.stem,
        planner=SCRIPT_PLANNER,
        goal=goal or script.workflow.goal,
        title=script.workflow.name,
        policies=policies,
        limits=limits,
        kernel=kernel,
        inputs=tuple(Input(source=Path(script.folder) / file, name=file) for file in script.files),
        script=path,
        out=out,
        overwrite=overwrite,
    )


def replay_order(source: RunFolder, recording: Recording, *, name: str) -> RunOrder:
    """The order for carrying out a recorded run again, with its own policies and limits, apart from those of time."""
    begun = recording.started
    inputs = sorted(path for path in source.inputs.rglob("*") if path.is_file())
    find_kernelspec(begun.kernel)
    return RunOrder(
        name=name,
        planner=f"{REPLAY_PLANNER}{source.path}",
        goal=begun.goal,
        title=begun.title,
        workflow=begun.workflow,
        variables=begun.variables,
        policies=begun.policies,
        limits=begun.limits.model_copy(update={"run_seconds": 0.0}),
        kernel=begun.kernel,
        inputs=tuple(Input(source=path, name=str(path.relative_to(source.inputs))) for path in inputs),
    )


def _kept_script(folder: RunFolder) -> Script:
    try:
        content = folder.script.read_bytes()
    except OSError as error:
        problem = f"the run's copy of its script cannot be read: {error.strerror or error}"
        raise MessageInvalid(what=f"script {folder.script}", problems=[("", problem)]) from error
    return parse_script(content, source=f"script {folder.script}")
