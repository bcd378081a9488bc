"""Whether cells are confined: by who writes the code, by what works here, and never less than before."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from notebook_bcc.errors import KernelStartFailed, RunRefused, SettingsInvalid
from notebook_bcc.kernel.local.kernel import LocalKernel
from notebook_bcc.lifecycle.sandbox_request import SandboxChoice, SandboxRequest
from notebook_bcc.lifecycle.sandboxing import (
    SandboxLauncher,
    confinement,
    launcher_of,
    sandbox_to_begin,
    sandbox_to_go_on,
)
from notebook_bcc.protocol.limits import Limits
from notebook_bcc.protocol.specs import (
    UNCONFINED,
    JupyterServerKernelSpec,
    KernelSpec,
    LlmPlannerSpec,
    LocalKernelSpec,
    PlannerSpec,
    PlaybookPlannerSpec,
    RemotePlannerSpec,
    SandboxSpec,
    ScriptPlannerSpec,
    confined_by,
    sandbox_of_text,
)
from notebook_bcc.sandbox.interface import RUNGS, Confined, Reach, Rung
from notebook_bcc.sandbox.rungs import RungReport, try_rung

MODEL = LlmPlannerSpec()
AWAY = RemotePlannerSpec(url="https://planner.example/dslc")
HERE = RemotePlannerSpec(url="http://127.0.0.1:28600")
OWN: list[PlannerSpec] = [ScriptPlannerSpec(), PlaybookPlannerSpec()]
LOCAL = LocalKernelSpec()
SERVER = JupyterServerKernelSpec(url="http://127.0.0.1:18600")
BUBBLEWRAP = confined_by("bubblewrap", network=False)
LANDLOCK = confined_by("landlock", network=False)
WITH_NETWORK = confined_by("bubblewrap", network=True)


def machine(*working: Rung) -> Callable[[Rung], RungReport]:
    """A machine on which these work."""

    def tried(rung: Rung) -> RungReport:
        help_ = "sudo apt-get install bubblewrap" if rung == "bubblewrap" else ""
        return RungReport(rung, rung in working, "as it is", help="" if rung in working else help_)

    return tried


def begin(
    planner: PlannerSpec,
    *working: Rung,
    choice: SandboxChoice | None = None,
    allow_net: bool = False,
    kernel: KernelSpec = LOCAL,
    said: list[str] | None = None,
) -> SandboxSpec:
    said = [] if said is None else said
    request = SandboxRequest(choice, allow_net=allow_net)
    return sandbox_to_begin(request, planner=planner, kernel=kernel, try_rung=machine(*working), warn=said.append)


def go_on(
    floor: SandboxSpec, *working: Rung, choice: SandboxChoice | None = None, allow_net: bool = False
) -> SandboxSpec:
    request = SandboxRequest(choice, allow_net=allow_net)
    return sandbox_to_go_on(floor, request, kernel=LOCAL, try_rung=machine(*working), run="r")


@pytest.mark.parametrize("planner", [MODEL, AWAY, HERE])
def test_code_of_others_is_confined_by_the_strongest_sandbox_that_works(planner: PlannerSpec) -> None:
    assert begin(planner, "bubblewrap", "landlock") == BUBBLEWRAP
    assert begin(planner, "landlock") == LANDLOCK


@pytest.mark.parametrize("planner", OWN)
def test_ones_own_code_is_confined_only_if_that_is_wished_for(planner: PlannerSpec) -> None:
    assert begin(planner, "bubblewrap") == UNCONFINED
    assert begin(planner, "bubblewrap", choice="auto") == BUBBLEWRAP


@pytest.mark.parametrize("planner", [MODEL, AWAY])
def test_where_nothing_works_a_run_of_others_is_refused_with_the_command_that_helps(planner: PlannerSpec) -> None:
    with pytest.raises(RunRefused, match=r"install one with: sudo apt-get install bubblewrap.*--sandbox off"):
        begin(planner)
    assert begin(planner, choice="off") == UNCONFINED


def test_a_planner_on_this_machine_goes_on_without_and_says_so_in_one_line() -> None:
    said: list[str] = []
    assert begin(HERE, said=said) == UNCONFINED
    (line,) = said
    assert "with your rights" in line
    assert "\n" not in line
    assert begin(HERE, "bubblewrap", choice="off", said=said) == UNCONFINED
    assert len(said) == 1


def test_one_kind_that_was_named_is_not_replaced_by_another() -> None:
    assert begin(MODEL, "bubblewrap", "landlock", choice="landlock") == LANDLOCK
    with pytest.raises(RunRefused, match="landlock: as it is"):
        begin(OWN[0], "bubblewrap", choice="landlock")


def test_a_models_code_on_a_remote_kernel_needs_a_word_that_nothing_is_confined_there() -> None:
    with pytest.raises(RunRefused, match=r"unconfined at http://127\.0\.0\.1:18600.*--sandbox off"):
        begin(MODEL, "bubblewrap", kernel=SERVER)
    assert begin(MODEL, "bubblewrap", kernel=SERVER, choice="off") == UNCONFINED
    assert begin(HERE, "bubblewrap", kernel=SERVER) == UNCONFINED
    with pytest.raises(SettingsInvalid, match="kernels on this machine"):
        begin(MODEL, "bubblewrap", kernel=SERVER, choice="auto")


def test_the_network_is_shared_only_out_of_a_sandbox() -> None:
    assert begin(MODEL, "bubblewrap", allow_net=True) == WITH_NETWORK
    with pytest.raises(SettingsInvalid, match="--allow-net"):
        begin(OWN[0], "bubblewrap", allow_net=True)


def test_a_sandbox_is_a_floor() -> None:
    assert go_on(BUBBLEWRAP, "bubblewrap", "landlock") == BUBBLEWRAP
    assert go_on(LANDLOCK, "bubblewrap", "landlock") == LANDLOCK
    assert go_on(BUBBLEWRAP, "landlock") == LANDLOCK
    assert go_on(WITH_NETWORK, "bubblewrap") == WITH_NETWORK
    with pytest.raises(RunRefused, match="keeps"):
        go_on(BUBBLEWRAP, "bubblewrap", choice="off")
    with pytest.raises(RunRefused, match="does not work here"):
        go_on(BUBBLEWRAP)
    with pytest.raises(RunRefused, match="without the network"):
        go_on(BUBBLEWRAP, "bubblewrap", allow_net=True)
    with pytest.raises(RunRefused, match="keeps"):
        sandbox_to_go_on(BUBBLEWRAP, SandboxRequest(), kernel=SERVER, try_rung=machine("bubblewrap"), run="r")


def test_a_run_without_a_sandbox_stays_without_until_one_is_wished_for() -> None:
    assert go_on(UNCONFINED, "bubblewrap") == UNCONFINED
    assert go_on(UNCONFINED, choice="off") == UNCONFINED
    assert go_on(UNCONFINED, "landlock", choice="auto") == LANDLOCK
    with pytest.raises(RunRefused):
        go_on(UNCONFINED, choice="auto")


@pytest.mark.parametrize("spec", [BUBBLEWRAP, LANDLOCK, WITH_NETWORK])
def test_a_sandbox_is_known_again_by_what_a_notebook_says_of_it(spec: SandboxSpec) -> None:
    assert sandbox_of_text(str(spec)) == spec
    assert sandbox_of_text("a box of sand") == UNCONFINED


def test_a_sandbox_that_has_no_room_for_its_folders_is_a_kernel_that_does_not_start(tmp_path: Path) -> None:
    class Full:
        def confine(self, command: Sequence[str], *, reach: Reach, env: Mapping[str, str]) -> Confined:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    launcher = SandboxLauncher(Full(), readable=(), network=False)
    with pytest.raises(KernelStartFailed, match="No space left"):
        launcher.prepare(["python"], folder=tmp_path, cwd=None, env={})


@pytest.mark.anyio
@pytest.mark.parametrize("rung", RUNGS)
async def test_a_kernel_in_a_sandbox_writes_and_reads_its_checkpoints(rung: Rung, tmp_path: Path) -> None:
    if not (report := try_rung(rung)).works:
        pytest.skip(f"NOT TESTED: {rung} does not work here: {report.why}")
    work, checkpoints = tmp_path / "work", tmp_path / "checkpoints"
    work.mkdir()
    checkpoints.mkdir()
    kept = confinement(confined_by(rung, network=False), Limits(), writable=(checkpoints,))
    path = str(checkpoints / "1.checkpoint")
    kernel = LocalKernel(cwd=work, launcher=launcher_of(kept))
    try:
        await kernel.start()
        await kernel.execute("x = [1, 2, 3]")
        saved = await kernel.save_checkpoint(path, seconds=60)
        assert not saved.problem
        await kernel.restart()
        loaded = await kernel.load_checkpoint(path, digest=saved.digest, versions=saved.versions)
        assert not loaded.problem
        assert (await kernel.execute("print(x)")).outputs[0]["text"] == "[1, 2, 3]\n"
    finally:
        await kernel.close()


def test_a_folder_that_has_gone_keeps_no_kernel_from_starting(tmp_path: Path) -> None:
    seen: list[Reach] = []

    class Open:
        def confine(self, command: Sequence[str], *, reach: Reach, env: Mapping[str, str]) -> Confined:
            seen.append(reach)
            return Confined(argv=tuple(command), env=env)

    launcher = SandboxLauncher(Open(), readable=(), writable=(tmp_path, tmp_path / "gone"), network=False)
    launcher.prepare(["python"], folder=tmp_path, cwd=None, env={})
    assert [reach.writable for reach in seen] == [(tmp_path,)]
