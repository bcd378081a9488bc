"""The one place that picks implementations: which planner, kernel, journal and clock a spec stands for.

An implementation is imported when it is chosen: a run of a script needs neither an HTTP client nor a template engine.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from notebook_bcc.errors import MessageInvalid, RunRefused, SettingsInvalid
from notebook_bcc.protocol.addresses import without_credentials
from notebook_bcc.protocol.specs import (
    DEFAULT_KERNEL,
    JournalSpec,
    JupyterServerKernelSpec,
    KernelSpec,
    LlmPlannerSpec,
    LocalKernelSpec,
    PlannerSpec,
    PlaybookPlannerSpec,
    RemotePlannerSpec,
    ReplayPlannerSpec,
    ScriptPlannerSpec,
)
from notebook_bcc.protocol.vocabulary import Dialect
from notebook_bcc.settings import Settings, read_address, read_model_keys

if TYPE_CHECKING:
    from notebook_bcc.engine.actions.registry import ActionRegistry
    from notebook_bcc.journal.interface import Journal, JournalFactory, JournalReader
    from notebook_bcc.kernel.contents import Contents
    from notebook_bcc.kernel.interface import Kernel
    from notebook_bcc.lifecycle.data_files import DataSpec
    from notebook_bcc.lifecycle.factories import RunFactories
    from notebook_bcc.lifecycle.folder import RunFolder
    from notebook_bcc.lifecycle.order import RunOrder
    from notebook_bcc.lifecycle.recording import Recording
    from notebook_bcc.lifecycle.sandboxing import Confinement
    from notebook_bcc.llm.choice import ChoiceFiles
    from notebook_bcc.llm.client import Asker
    from notebook_bcc.llm.planner import LlmPlanner
    from notebook_bcc.llm.providers.names import ModelName
    from notebook_bcc.llm.service import ModelService
    from notebook_bcc.planners.interface import Planner
    from notebook_bcc.planners.remote.planner import RemotePlanner
    from notebook_bcc.planners.script.values import Script
    from notebook_bcc.playbook.folder import PlaybookFiles
    from notebook_bcc.protocol.limits import Limits
    from notebook_bcc.sandbox.interface import Rung
    from notebook_bcc.sandbox.rungs import RungReport
    from notebook_bcc.server.metrics import Counted

# What a person types for a planner in this process.
SCRIPT_PLANNER = "script"
PLAYBOOK_PLANNER = "playbook"
LLM_PLANNER = "llm"
# And for the planner at DSLC_BASE_URL.
REMOTE_PLANNER = "remote"
DEFAULT_PLAYBOOK = "dslc"


def run_factories(settings: Settings | None = None) -> RunFactories:
    """What runs of this installation are carried out with."""
    from notebook_bcc.lifecycle.factories import RunFactories

    known = settings if settings is not None else Settings()
    return RunFactories(
        make_kernel=functools.partial(make_kernel, token=known.backend_token, idle=known.kernel_idle),
        make_planner=functools.partial(make_planner, settings=known),
        journals=journals(),
        make_contents=functools.partial(make_contents, token=known.backend_token),
        make_registry=make_registry,
        try_rung=try_rung,
        now=lambda: datetime.now(UTC),
    )


def make_kernel(
    spec: KernelSpec,
    *,
    cwd: Path,
    output_bytes: int,
    confinement: Confinement | None = None,
    run: RunFolder | None = None,
    token: str = "",
    idle: float = 0.0,
) -> Kernel:
    """The kernel of a spec, not started. `token` is for a Jupyter Server, which confines its kernels itself or not. A
    local kernel of a `run` outlives this process, until it was `idle` for so many seconds with nobody there."""
    from notebook_bcc.kernel.outputs import OutputLimits

    usual = OutputLimits()
    limits = replace(usual, cell=output_bytes, text=output_bytes) if output_bytes else usual
    match spec:
        case LocalKernelSpec():
            from notebook_bcc.kernel.local.kernel import LocalKernel
            from notebook_bcc.kernel.supervisor.folders import Lifetime
            from notebook_bcc.lifecycle.sandboxing import Confinement, launcher_of

            kept = confinement or Confinement()
            lifetime = Lifetime(idle, run.kernel, str(run.path.resolve())) if run is not None else Lifetime()
            made = functools.partial(LocalKernel, launcher=launcher_of(kept), limits=kept.limits, lifetime=lifetime)
            return made(name=spec.name, cwd=cwd, output_limits=limits)
        case JupyterServerKernelSpec():
            from notebook_bcc.kernel.jupyter_server.kernel import JupyterServerKernel

            path = _server_path(cwd)
            return JupyterServerKernel(spec.url, token=token, name=spec.name, path=path, output_limits=limits)
        case _:
            assert_never(spec)


def try_rung(rung: Rung) -> RungReport:
    """Whether this kind of sandbox works here."""
    from notebook_bcc.sandbox import rungs

    return rungs.try_rung(rung)


def make_registry(actions: Path | None) -> ActionRegistry:
    """The handlers of a run that was given this file of custom actions, or none. Raises SettingsInvalid."""
    from notebook_bcc.lifecycle.custom_actions import registry_with

    return registry_with(actions)


def make_contents(url: str, *, token: str = "") -> Contents:
    """The notebooks of the Jupyter Server at an address."""
    from notebook_bcc.kernel.jupyter_server.contents import ServerContents

    return ServerContents(url, token=token)


def kernel_spec(settings: Settings, name: str = DEFAULT_KERNEL) -> KernelSpec:
    """The kernel of this name where the user wants kernels."""
    if settings.use_remote_execution:
        return JupyterServerKernelSpec(url=settings.backend_base_url, name=name)
    return LocalKernelSpec(name=name)


def wanted_notebook(settings: Settings) -> str:
    """The path that a server is to keep the notebook under; empty where none is to. Raises SettingsInvalid."""
    from notebook_bcc.lifecycle.server_copy import notebook_path

    if settings.use_remote_execution and settings.notebook_id:
        return notebook_path(settings.notebook_id)
    if settings.source_of("notebook_id") == "--notebook-id":
        raise SettingsInvalid("--notebook-id is for a notebook on a Jupyter Server: give --kernel-url as well")
    return ""


def check_kernel(spec: KernelSpec) -> None:
    """Raises KernelStartFailed where it is known at once that there is no such kernel."""
    match spec:
        case LocalKernelSpec():
            from notebook_bcc.kernel.local.process import find_kernelspec

            find_kernelspec(spec.name)
        case JupyterServerKernelSpec():
            pass
        case _:
            assert_never(spec)


def _server_path(folder: Path) -> str:
    """The folder as a server knows it whose root is the folder we are in. Another server falls back to the nearest
    folder above that it has, at last its root."""
    here = Path.cwd()
    return folder.relative_to(here).as_posix() if folder.is_relative_to(here) else ""


class _Journals:
    """The journals of this installation. With a second kind of spec, the place that tells them apart."""

    def create(self, spec: JournalSpec) -> Journal:
        from notebook_bcc.journal.sqlite.journal import SqliteJournal

        return SqliteJournal.create(Path(spec.path))

    def open(self, spec: JournalSpec) -> Journal:
        from notebook_bcc.journal.sqlite.journal import SqliteJournal

        return SqliteJournal.open(Path(spec.path))

    def reader(self, spec: JournalSpec) -> JournalReader:
        from notebook_bcc.journal.sqlite.journal import SqliteJournal

        return SqliteJournal.reader(Path(spec.path))


def journals() -> JournalFactory:
    """What opens the journals of runs."""
    return _Journals()


def remote_planner(spec: RemotePlannerSpec, *, settings: Settings) -> RemotePlanner:
    """The planner behind an address. Raises SettingsInvalid."""
    from notebook_bcc.planners.remote.client import RemoteTimeouts
    from notebook_bcc.planners.remote.planner import RemotePlanner

    usual = settings.dslc_base_url
    patience = settings.dslc_timeout
    return RemotePlanner(
        # The environment's own address may hold what a record must not: a user name and a password.
        usual if without_credentials(usual) == spec.url else spec.url,
        dialect=spec.dialect,
        token=settings.dslc_token or None,
        # Our own service says why there is no answer when its planner is late; a little longer is waited for that.
        timeouts=RemoteTimeouts(first_byte=patience, between_lines=patience, planning=patience + 10),
    )


def planner_spec(choice: str, *, dialect: Dialect | None, settings: Settings) -> PlannerSpec:
    """The planner a person asked for: `script`, `playbook`, `llm`, `remote`, or an address. Raises SettingsInvalid."""
    words: Mapping[str, PlannerSpec] = {
        SCRIPT_PLANNER: ScriptPlannerSpec(),
        PLAYBOOK_PLANNER: PlaybookPlannerSpec(),
        LLM_PLANNER: LlmPlannerSpec(),
    }
    if choice in words:
        if dialect is not None:
            raise SettingsInvalid("--dialect is for a planner at an address: give one with --planner")
        return words[choice]
    address = settings.dslc_base_url if choice == REMOTE_PLANNER else read_address(choice, option="--planner")
    return RemotePlannerSpec(url=address, dialect=dialect or "v2")


def dialect_of(spec: PlannerSpec | None) -> Dialect:
    """What a planner speaks."""
    return spec.dialect if isinstance(spec, RemotePlannerSpec) else "v2"


def script_planner(path: Path) -> Planner:
    """The planner of a script that is in no run. Raises MessageInvalid, PlanInvalid."""
    from notebook_bcc.planners.script.file import read_script
    from notebook_bcc.planners.script.planner import ScriptedPlanner

    return ScriptedPlanner.from_script(read_script(path))


def playbook_planner(files: PlaybookFiles, *, has_model: bool = False) -> Planner:
    """The planner that works by the rules of a playbook, alone or behind a language model. Raises MessageInvalid."""
    from notebook_bcc.playbook.check import load_playbook
    from notebook_bcc.playbook.planner import PlaybookPlanner

    return PlaybookPlanner(load_playbook(files), has_model=has_model)


def llm_planner(files: ChoiceFiles, base: Planner, *, keys: Mapping[str, str], settings: Settings) -> LlmPlanner:
    """The planner that asks these models, with a base planner behind them. Raises SettingsInvalid."""
    return _llm_maker(files, base, keys=keys, settings=settings)()


def llm_service(files: ChoiceFiles, playbook: str, *, limits: Limits, settings: Settings) -> ModelService:
    """The same for a service: many runs, and a budget of the process. Raises MessageInvalid, SettingsInvalid."""
    from notebook_bcc.llm.service import ModelService
    from notebook_bcc.playbook.folder import open_playbook
    from notebook_bcc.protocol.limits import budget_of

    check_choice(files, limits=limits)
    base = playbook_planner(open_playbook(playbook or DEFAULT_PLAYBOOK), has_model=True)
    make = _llm_maker(files, base, keys=read_model_keys(), settings=settings)
    return ModelService(make, budget=budget_of(limits), fallback=files.choice.fallback)


def model_counts(service: ModelService) -> tuple[Counted, ...]:
    """What the models of a service took, for its metrics."""
    from notebook_bcc.server.metrics import Counted

    spent = service.spent
    return (
        Counted("model_calls", "Questions to a model.", spent.calls),
        Counted("model_failures", "Questions that a model did not answer to the end.", service.failures),
        Counted("model_input_tokens", "Tokens of prompts; estimated where they are not counted.", spent.input_tokens),
        Counted("model_output_tokens", "Tokens of answers; estimated where they are not counted.", spent.output_tokens),
    )


def _llm_maker(
    files: ChoiceFiles, base: Planner, *, keys: Mapping[str, str], settings: Settings
) -> Callable[[], LlmPlanner]:
    """Makes planners with accounts of their own and the same models behind them."""
    from notebook_bcc.llm.client import Account, Asker
    from notebook_bcc.llm.limits import LlmLimits
    from notebook_bcc.llm.planner import LlmPlanner
    from notebook_bcc.llm.prompt.files import read_prompts
    from notebook_bcc.llm.providers.names import access
    from notebook_bcc.llm.providers.registry import open_model
    from notebook_bcc.protocol.limits import Budget

    choice, prices, prompts = files.choice, files.table(), read_prompts(files.prompts)
    models = {model: open_model(access(model, keys)) for model in choice.names}
    secrets = [one for one in keys.values() if one]

    def made() -> LlmPlanner:
        # The run says what may be spent and what was, each time something is asked.
        account = Account(budget=Budget(), prices=prices, secrets=secrets)

        def asker(model: ModelName) -> Asker:
            return Asker(models[model], account, timeout=settings.dslc_timeout)

        return LlmPlanner(
            base=base,
            generating=asker(choice.generating),
            planning=asker(choice.planning) if choice.planning is not None else None,
            prompts=prompts,
            share=choice.share,
            fallback=choice.fallback,
            limits=LlmLimits.small() if choice.generating.is_local else LlmLimits(),
            language=settings.lang,
            images=choice.images,
        )

    return made


def check_choice(files: ChoiceFiles, *, limits: Limits) -> None:
    """Raises SettingsInvalid unless these models can be asked: their names, libraries, keys, prices and prompts."""
    from notebook_bcc.llm.budget import check_budget
    from notebook_bcc.llm.prompt.files import read_prompts
    from notebook_bcc.llm.providers.names import access
    from notebook_bcc.llm.providers.registry import check_library
    from notebook_bcc.protocol.limits import budget_of

    keys, prices = read_model_keys(), files.table()
    read_prompts(files.prompts)
    for model in files.choice.names:
        check_library(model)
        access(model, keys)
        check_budget(budget_of(limits), model=str(model), price=prices.of(str(model)))


def kept_choice(folder: RunFolder) -> ChoiceFiles:
    """The models that a run was given. Raises MessageInvalid, RunRefused."""
    from notebook_bcc.llm.choice import ChoiceFiles, read_choice

    if not folder.models.exists():
        raise RunRefused(f"run {folder.run_id!r} was given no language model; begin one with: nbcc run --planner llm")
    return ChoiceFiles(
        choice=read_choice(folder.models),
        prices=folder.prices if folder.prices.exists() else None,
        prompts=folder.prompts if folder.prompts.exists() else None,
    )


async def recorded_planner(folder: RunFolder) -> Planner:
    """A planner that gives the answers a run was given, in their order. Raises RunRefused, JournalFailed."""
    from notebook_bcc.lifecycle.history import read_entries
    from notebook_bcc.lifecycle.recording import read_recording

    return (await read_recording(read_entries(folder, journals()))).planner()


async def make_planner(spec: PlannerSpec | None, folder: RunFolder, *, settings: Settings) -> Planner:
    """The planner of a run. Raises MessageInvalid, RunRefused, SettingsInvalid, JournalFailed."""
    match spec:
        case ScriptPlannerSpec():
            from notebook_bcc.planners.script.planner import ScriptedPlanner

            return ScriptedPlanner.from_script(_kept_script(folder))
        case PlaybookPlannerSpec():
            return _kept_playbook(folder)
        case LlmPlannerSpec():
            files = kept_choice(folder)
            base = _kept_playbook(folder, has_model=True)
            return llm_planner(files, base, keys=read_model_keys(), settings=settings)
        case RemotePlannerSpec():
            return remote_planner(spec, settings=settings)
        case ReplayPlannerSpec():
            return await _replay_planner(spec, folder)
        case None:
            raise RunRefused(f"run {folder.run_id!r} names no planner that this version can make")
        case _:
            assert_never(spec)


async def _replay_planner(spec: ReplayPlannerSpec, folder: RunFolder) -> Planner:
    """The recorded answers; of a replay that is taken up again, those that it has not had yet."""
    from notebook_bcc.lifecycle.folder import RunFolder
    from notebook_bcc.lifecycle.history import read_entries
    from notebook_bcc.lifecycle.recording import read_recording

    recording = await read_recording(read_entries(RunFolder(Path(spec.path)), journals()))
    own = [entry async for entry in read_entries(folder, journals())]
    return recording.planner(asked=own)


def _kept_playbook(folder: RunFolder, *, has_model: bool = False) -> Planner:
    from notebook_bcc.playbook.folder import open_playbook

    return playbook_planner(open_playbook(str(folder.playbook)), has_model=has_model)


def run_order(order: RunOrder, path: Path | None) -> RunOrder:
    """The order for a run of a script, or of a planner that needs none. All is checked before anything is on disk.

    A script that another planner plans for gives its goal, its name and its data files.
    Raises MessageInvalid, PlanInvalid, KernelStartFailed, RunRefused.
    """
    from notebook_bcc.lifecycle.folder import Input
    from notebook_bcc.planners.script.file import read_script
    from notebook_bcc.planners.script.planner import ScriptedPlanner

    check_kernel(order.kernel_spec)
    if path is None:
        if isinstance(order.planner_spec, ScriptPlannerSpec) or _by_playbook(order) or not order.goal:
            raise RunRefused("there is nothing to carry out: give a data file, a script, or --planner and --goal")
        return replace(order, name=order.name or order.goal)
    if _by_playbook(order):
        raise RunRefused(f"a playbook plans for data; {str(path)!r} is a script")
    script = read_script(path)
    ScriptedPlanner.from_script(script)
    return replace(
        order,
        name=order.name or script.workflow.name or path.stem,
        goal=order.goal or script.workflow.goal,
        title=script.workflow.name,
        inputs=tuple(Input(source=Path(script.folder) / file, name=file) for file in script.files),
        script=path,
    )


def data_order(order: RunOrder, spec: DataSpec, *, playbook: str = "") -> RunOrder:
    """The order for a run that begins with data. All is checked before anything is on disk.

    The embedded planners work by the playbook of that name; a planner elsewhere has no use for one.
    Raises MessageInvalid, KernelStartFailed, RunRefused, SettingsInvalid.
    """
    from notebook_bcc.journal.records import INPUTS
    from notebook_bcc.lifecycle.data_check import check_data, check_task
    from notebook_bcc.lifecycle.data_files import data_inputs, default_goal, default_name, inputs_variable
    from notebook_bcc.lifecycle.folder import check_inputs
    from notebook_bcc.lifecycle.packages import check_packages
    from notebook_bcc.playbook.check import load_playbook
    from notebook_bcc.playbook.folder import builtin_playbooks, open_playbook

    if isinstance(order.planner_spec, ScriptPlannerSpec):
        raise RunRefused(f"{str(spec.data)!r} is a data file: a script cannot plan for it")
    if order.models is not None:
        check_choice(order.models, limits=order.limits)
    inputs = data_inputs(spec)
    check_inputs(inputs)
    check_data(spec)
    name = playbook or DEFAULT_PLAYBOOK
    rules = open_playbook(name) if _by_playbook(order) else None
    if rules is not None:
        check_task(load_playbook(rules).tasks, spec)
    check_kernel(order.kernel_spec)
    # What somebody's own playbook imports is theirs to know, and what a server has is its own business.
    if rules is not None and name in builtin_playbooks() and isinstance(order.kernel_spec, LocalKernelSpec):
        check_packages(order.kernel_spec.name, [one.source for one in inputs])
    return replace(
        order,
        name=order.name or default_name(spec),
        goal=spec.goal or default_goal(spec),
        variables={**order.variables, INPUTS: inputs_variable(spec)},
        inputs=inputs,
        playbook=rules,
    )


def _by_playbook(order: RunOrder) -> bool:
    """True for a planner of this process that works by a playbook of the run's own."""
    return isinstance(order.planner_spec, PlaybookPlannerSpec | LlmPlannerSpec)


def replay_order(source: RunFolder, recording: Recording, *, name: str) -> RunOrder:
    """The order for carrying out a recorded run again, with its own policies and limits, apart from those of time."""
    from notebook_bcc.lifecycle.folder import Input
    from notebook_bcc.lifecycle.order import order_again

    begun = recording.started
    check_kernel(begun.chosen_kernel)
    files = sorted(path for path in source.inputs.rglob("*") if path.is_file())
    place = source.inputs_place
    order = order_again(
        begun,
        name=name,
        planner_spec=ReplayPlannerSpec(path=str(source.path)),
        inputs=tuple(Input(source=path, name=str(place / path.relative_to(source.inputs))) for path in files),
    )
    actions = source.actions if source.actions.exists() else None
    return replace(order, actions=actions, limits=begun.limits.model_copy(update={"run_seconds": 0.0}))


def _kept_script(folder: RunFolder) -> Script:
    from notebook_bcc.planners.script.file import parse_script

    try:
        content = folder.script.read_bytes()
    except OSError as error:
        problem = f"the run's copy of its script cannot be read: {error.strerror or error}"
        raise MessageInvalid(what=f"script {folder.script}", problems=[("", problem)]) from error
    return parse_script(content, source=f"script {folder.script}")
