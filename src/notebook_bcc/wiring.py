"""The one place that picks implementations: which kernel, which planner, which clock."""

from __future__ import annotations

import functools
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from notebook_bcc.engine.registry import ActionRegistry
from notebook_bcc.errors import MessageInvalid, RunRefused, SettingsInvalid
from notebook_bcc.journal.records import Limits, Policies
from notebook_bcc.kernel.interface import Kernel
from notebook_bcc.kernel.jupyter_server import JupyterServerKernel
from notebook_bcc.kernel.local import LocalKernel
from notebook_bcc.kernel.outputs import OutputLimits
from notebook_bcc.kernel.process import find_kernelspec
from notebook_bcc.planners.interface import Planner
from notebook_bcc.planners.remote import Dialect, RemotePlanner, RemoteTimeouts
from notebook_bcc.planners.script import Script
from notebook_bcc.planners.script_file import parse_script, read_script
from notebook_bcc.planners.scripted import ScriptedPlanner
from notebook_bcc.runs.folder import Input, RunFolder
from notebook_bcc.runs.lifecycle import RunOrder, read_entries
from notebook_bcc.runs.recording import Recording, read_recording
from notebook_bcc.runs.workshop import KernelWish, Workshop
from notebook_bcc.settings import Settings, read_address, without_credentials

# How a run's first record names its planner; what follows the colon is where the planner finds its answers.
SCRIPT_PLANNER = "script"
REPLAY_PLANNER = "replay:"
FIRST_DIALECT = "v1+"
# What a person says for: the planner at DSLC_BASE_URL.
REMOTE_PLANNER = "remote"


def workshop(settings: Settings | None = None) -> Workshop:
    """The tools that runs of this installation are carried out with."""
    known = settings if settings is not None else Settings()
    return Workshop(
        make_kernel=functools.partial(make_kernel, token=known.backend_token),
        make_planner=functools.partial(make_planner, settings=known),
        make_registry=ActionRegistry,
        now=lambda: datetime.now(UTC),
    )


def make_kernel(wish: KernelWish, *, token: str = "") -> Kernel:
    """A kernel that is not started: in a process of ours, or behind the Jupyter Server of the wish."""
    usual = OutputLimits()
    limits = replace(usual, cell=wish.output_bytes, text=wish.output_bytes) if wish.output_bytes else usual
    if not wish.url:
        return LocalKernel(name=wish.name, cwd=wish.cwd, output_limits=limits)
    return JupyterServerKernel(wish.url, token=token, name=wish.name, path=_server_path(wish.cwd), output_limits=limits)


def _server_path(folder: Path) -> str:
    """The folder as a server knows it whose root is the folder we are in. Another server falls back to the nearest
    folder above that it has, at last its root."""
    here = Path.cwd()
    return folder.relative_to(here).as_posix() if folder.is_relative_to(here) else ""


def remote_planner(address: str, *, dialect: Dialect, settings: Settings) -> RemotePlanner:
    """The planner behind this address. Raises SettingsInvalid."""
    usual = settings.dslc_base_url
    patience = settings.dslc_timeout
    return RemotePlanner(
        # The environment's own address may hold what a record must not: a user name and a password.
        usual if without_credentials(usual) == address else address,
        dialect=dialect,
        token=settings.dslc_token or None,
        # Our own service says why there is no answer when its planner is late; a little longer is waited for that.
        timeouts=RemoteTimeouts(first_byte=patience, between_lines=patience, planning=patience + 10),
    )


def planner_spec(wish: str, *, dialect: Dialect | None, settings: Settings) -> str:
    """How a run's record names the planner a person asked for: `script`, or an address without credentials.

    `v1+` before the address names the first dialect. Raises SettingsInvalid.
    """
    if wish == SCRIPT_PLANNER:
        if dialect is not None:
            raise SettingsInvalid("--dialect is for a planner at an address: give one with --planner")
        return SCRIPT_PLANNER
    address = settings.dslc_base_url if wish == REMOTE_PLANNER else read_address(wish, option="--planner")
    return f"{FIRST_DIALECT if dialect == 'v1' else ''}{without_credentials(address)}"


def dialect_of(spec: str) -> Dialect:
    """What the planner of a record speaks."""
    return "v1" if spec.startswith(FIRST_DIALECT) else "v2"


def script_planner(path: Path) -> Planner:
    """The planner of a script that is in no run. Raises MessageInvalid, PlanInvalid."""
    return ScriptedPlanner.from_script(read_script(path))


async def recorded_planner(folder: RunFolder) -> Planner:
    """A planner that gives the answers a run was given, in their order. Raises RunRefused, JournalFailed."""
    return (await read_recording(read_entries(folder))).planner()


async def make_planner(spec: str, folder: RunFolder, *, settings: Settings) -> Planner:
    """The planner that a run's record names. Raises MessageInvalid, RunRefused, SettingsInvalid, JournalFailed."""
    address = spec.removeprefix(FIRST_DIALECT)
    if address.startswith(("http://", "https://")):
        return remote_planner(address, dialect=dialect_of(spec), settings=settings)
    if spec == SCRIPT_PLANNER:
        return ScriptedPlanner.from_script(_kept_script(folder))
    if spec.startswith(REPLAY_PLANNER):
        source = RunFolder(Path(spec.removeprefix(REPLAY_PLANNER)))
        recording = await read_recording(read_entries(source))
        own = [entry async for entry in read_entries(folder)]
        return recording.planner(asked=own)
    raise RunRefused(f"run {folder.run_id!r} was planned by {spec!r}, which this version does not know")


def run_order(
    path: Path | None,
    *,
    policies: Policies,
    limits: Limits,
    planner: str = SCRIPT_PLANNER,
    name: str = "",
    goal: str = "",
    kernel: str = "python3",
    kernel_url: str = "",
    out: Path | None = None,
    overwrite: bool = False,
) -> RunOrder:
    """The order for a run: of a script, or of a planner that needs none. All is checked before anything is on disk.

    A script that another planner plans for gives its goal, its name and its data files.
    Raises MessageInvalid, PlanInvalid, KernelStartFailed, RunRefused.
    """
    if not kernel_url:
        find_kernelspec(kernel)
    order = RunOrder(
        name=name or goal,
        planner=planner,
        goal=goal,
        policies=policies,
        limits=limits,
        kernel=kernel,
        kernel_url=kernel_url,
        out=out,
        overwrite=overwrite,
    )
    if path is None:
        if planner == SCRIPT_PLANNER or not goal:
            raise RunRefused("there is nothing to carry out: give a script, or --planner and --goal")
        return order
    script = read_script(path)
    ScriptedPlanner.from_script(script)
    return replace(
        order,
        name=name or script.workflow.name or path.stem,
        goal=goal or script.workflow.goal,
        title=script.workflow.name,
        inputs=tuple(Input(source=Path(script.folder) / file, name=file) for file in script.files),
        script=path,
    )


def replay_order(source: RunFolder, recording: Recording, *, name: str) -> RunOrder:
    """The order for carrying out a recorded run again, with its own policies and limits, apart from those of time."""
    begun = recording.started
    inputs = sorted(path for path in source.inputs.rglob("*") if path.is_file())
    if not begun.kernel_url:
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
        kernel_url=begun.kernel_url,
        inputs=tuple(Input(source=path, name=str(path.relative_to(source.inputs))) for path in inputs),
    )


def _kept_script(folder: RunFolder) -> Script:
    try:
        content = folder.script.read_bytes()
    except OSError as error:
        problem = f"the run's copy of its script cannot be read: {error.strerror or error}"
        raise MessageInvalid(what=f"script {folder.script}", problems=[("", problem)]) from error
    return parse_script(content, source=f"script {folder.script}")
