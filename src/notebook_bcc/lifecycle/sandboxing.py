"""Whether a run's cells are confined, and by what: who writes the code decides, and what was chosen is a floor."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal
from urllib.parse import urlsplit

from notebook_bcc.errors import KernelStartFailed, RunRefused, SettingsInvalid
from notebook_bcc.kernel.local.launcher import Launch, Launcher, PlainLauncher
from notebook_bcc.kernel.local.usage import ResourceLimits
from notebook_bcc.lifecycle.sandbox_request import SandboxRequest
from notebook_bcc.protocol.limits import Limits
from notebook_bcc.protocol.specs import (
    UNCONFINED,
    KernelSpec,
    PlannerSpec,
    SandboxSpec,
    confined_by,
    has_network,
    is_confined,
)
from notebook_bcc.sandbox.interface import RUNGS, Reach, Rung, Sandbox
from notebook_bcc.sandbox.rungs import RungReport, make_sandbox

TryRung = Callable[[Rung], RungReport]

_NO_HELP = "use a machine that has one of them, or a container for the whole run"


@dataclass(frozen=True, slots=True)
class Confinement:
    """How a kernel is kept: its sandbox, what beside its working directory it may read and write, and its limits."""

    sandbox: SandboxSpec = UNCONFINED
    readable: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()
    memory_bytes: int = 0
    processes: int = 0
    disk_bytes: int = 0

    @property
    def limits(self) -> ResourceLimits:
        """What its kernel may take."""
        return ResourceLimits(self.memory_bytes, self.processes, self.disk_bytes)


def confinement(
    spec: SandboxSpec, limits: Limits, *, readable: Sequence[Path] = (), writable: Sequence[Path] = ()
) -> Confinement:
    """That of a run's kernel."""
    reach = (tuple(readable), tuple(writable))
    return Confinement(spec, *reach, limits.memory_bytes, limits.processes, limits.disk_bytes)


UNBOUND: Final = Confinement()


class SandboxLauncher:
    """Implements the kernel's `Launcher` by a sandbox."""

    def __init__(
        self, sandbox: Sandbox, *, readable: Sequence[Path], writable: Sequence[Path] = (), network: bool
    ) -> None:
        self._sandbox = sandbox
        self._readable = tuple(path.absolute() for path in readable)
        self._writable = tuple(path.absolute() for path in writable)
        self._network = network

    def prepare(self, command: Sequence[str], *, folder: Path, cwd: str | None, env: Mapping[str, str]) -> Launch:
        work = Path.cwd() if cwd is None else Path(cwd).absolute()
        # What was removed since the kernel before this one is no reason not to start.
        writable = tuple(path for path in self._writable if path.is_dir())
        reach = Reach(work=work, sockets=folder, readable=self._readable, writable=writable, network=self._network)
        try:
            made = self._sandbox.confine(command, reach=reach, env=env)
        except OSError as error:
            reason = f"its sandbox cannot be made: {error.strerror or error}"
            raise KernelStartFailed(kernel=Path(command[0]).name, reason=reason) from error
        return Launch(
            argv=made.argv,
            env=made.env,
            cwd=str(work),
            interrupt_by_message=made.in_pid_namespace,
            in_pid_namespace=made.in_pid_namespace,
            folders=made.folders,
            pass_fds=made.pass_fds,
            seal=made.seal,
        )


def launcher_of(confinement: Confinement) -> Launcher:
    """How a kernel on this machine is started so that it is kept like this."""
    spec = confinement.sandbox
    rung = next((rung for rung in RUNGS if rung == spec.kind), None)
    if rung is None:
        return PlainLauncher()
    reach = (confinement.readable, confinement.writable)
    return SandboxLauncher(make_sandbox(rung), readable=reach[0], writable=reach[1], network=has_network(spec))


def sandbox_to_begin(
    request: SandboxRequest, *, planner: PlannerSpec, kernel: KernelSpec, try_rung: TryRung, warn: Callable[[str], None]
) -> SandboxSpec:
    """The sandbox of a new run. Raises RunRefused where one is needed and none works, SettingsInvalid."""
    need = _need(planner)
    if kernel.kind != "local":
        return _elsewhere(request, kernel, must=need == "must")
    found: SandboxSpec = UNCONFINED
    if request.choice not in (None, "off") or (request.choice is None and need != "no"):
        working, tried = _first_working(_rungs(request), try_rung)
        if working is not None:
            found = confined_by(working, network=request.allow_net)
        elif request.choice is not None or need == "must":
            raise _refused(tried, must=request.choice is None)
        else:
            warn(f"the code of {planner} runs with your rights: no sandbox works here ({_reasons(tried)})")
    if request.allow_net and not is_confined(found):
        raise SettingsInvalid("--allow-net is for a run in a sandbox, and this one has none: give --sandbox as well")
    return found


def sandbox_to_go_on(
    floor: SandboxSpec, request: SandboxRequest, *, kernel: KernelSpec, try_rung: TryRung, run: str
) -> SandboxSpec:
    """The sandbox of a run that began in `floor`: one that keeps at least as much away. Raises RunRefused."""
    if not is_confined(floor):
        if request.choice in (None, "off") and not request.allow_net:
            return floor
        if kernel.kind != "local":
            return _elsewhere(request, kernel, must=False)
        working, tried = _first_working(_rungs(request), try_rung)
        if working is None:
            raise _refused(tried, must=False)
        return confined_by(working, network=request.allow_net)
    network = has_network(floor)
    if request.choice == "off" or kernel.kind != "local":
        raise RunRefused(f"run {run!r} was begun in a sandbox ({floor}), which it keeps: begin another run without one")
    if request.allow_net and not network:
        raise RunRefused(f"run {run!r} was begun without the network, and stays so: begin another one with --allow-net")
    # The kind that it had comes first: what worked inside works again.
    own = [rung for rung in RUNGS if rung == floor.kind]
    rungs = (
        _rungs(request) if request.choice not in (None, "auto") else (*own, *(one for one in RUNGS if one not in own))
    )
    working, tried = _first_working(rungs, try_rung)
    if working is None:
        raise _refused(tried, must=False)
    return confined_by(working, network=network)


def kept_confinement(
    floor: SandboxSpec, limits: Limits, request: SandboxRequest, *, kernel: KernelSpec, try_rung: TryRung, run: str
) -> Confinement:
    """How a kernel is kept that has to do with what a run has made. Raises RunRefused."""
    return confinement(sandbox_to_go_on(floor, request, kernel=kernel, try_rung=try_rung, run=run), limits)


def _need(planner: PlannerSpec) -> Literal["must", "may", "no"]:
    """A model's code must be confined, and that of another machine. A service on this one is most often the user's
    own. A script and a playbook are the user's; a replay has the sandbox of the run that it repeats."""
    if planner.kind == "llm":
        return "must"
    if planner.kind == "remote":
        return "may" if _is_loopback(planner.url) else "must"
    return "no"


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _elsewhere(request: SandboxRequest, kernel: KernelSpec, *, must: bool) -> SandboxSpec:
    if request.choice not in (None, "off") or request.allow_net:
        raise SettingsInvalid(f"--sandbox and --allow-net are for kernels on this machine, and this one is at {kernel}")
    if must and request.choice is None:
        raise RunRefused(
            f"the code that is planned elsewhere would run unconfined at {kernel}: a sandbox of this machine does not "
            "reach there. If nothing there needs protection, say so with: --sandbox off"
        )
    return UNCONFINED


def _rungs(request: SandboxRequest) -> tuple[Rung, ...]:
    return tuple(rung for rung in RUNGS if request.choice in (None, "auto", rung))


def _first_working(rungs: Sequence[Rung], try_rung: TryRung) -> tuple[Rung | None, list[RungReport]]:
    tried: list[RungReport] = []
    for rung in rungs:
        tried.append(try_rung(rung))
        if tried[-1].works:
            return rung, tried
    return None, tried


def _reasons(tried: Sequence[RungReport]) -> str:
    return "; ".join(f"{one.rung}: {one.why}" for one in tried)


def _refused(tried: Sequence[RungReport], *, must: bool) -> RunRefused:
    """With the one command that helps."""
    why = "code that others write runs in a sandbox, and none works here" if must else "this sandbox does not work here"
    remedy = next((one.help for one in tried if one.help), "")
    advice = f"install one with: {remedy}" if remedy else _NO_HELP
    rights = "; without a sandbox it has all your rights: --sandbox off" if must else ""
    return RunRefused(f"{why} ({_reasons(tried)}); {advice}{rights}")
