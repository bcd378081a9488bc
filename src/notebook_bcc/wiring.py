"""The one place that picks implementations: which kernel, which planner, which clock."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from notebook_bcc.engine.actions.registry import ActionRegistry
from notebook_bcc.errors import MessageInvalid, RunRefused, SettingsInvalid
from notebook_bcc.journal.records import INPUTS
from notebook_bcc.kernel.interface import Kernel
from notebook_bcc.kernel.jupyter_server.kernel import JupyterServerKernel
from notebook_bcc.kernel.local.kernel import LocalKernel
from notebook_bcc.kernel.local.process import find_kernelspec
from notebook_bcc.kernel.outputs import OutputLimits
from notebook_bcc.llm.budget import check_budget
from notebook_bcc.llm.choice import ChoiceFiles, read_choice
from notebook_bcc.llm.client import Account, Asker
from notebook_bcc.llm.limits import LlmLimits
from notebook_bcc.llm.planner import LlmPlanner
from notebook_bcc.llm.prompt.files import read_prompts
from notebook_bcc.llm.providers.names import ModelName, access
from notebook_bcc.llm.providers.registry import check_library, open_model
from notebook_bcc.llm.service import ModelService
from notebook_bcc.planners.interface import Planner
from notebook_bcc.planners.remote.planner import Dialect, RemotePlanner, RemoteTimeouts
from notebook_bcc.planners.script.file import parse_script, read_script
from notebook_bcc.planners.script.planner import ScriptedPlanner
from notebook_bcc.planners.script.values import Script
from notebook_bcc.playbook.check import load_playbook
from notebook_bcc.playbook.folder import PlaybookFiles, builtin_playbooks, open_playbook
from notebook_bcc.playbook.planner import PlaybookPlanner
from notebook_bcc.protocol.limits import Budget, Limits, budget_of
from notebook_bcc.runs.data_check import check_data
from notebook_bcc.runs.data_files import DataWish, data_inputs, default_goal, default_name, told_inputs
from notebook_bcc.runs.factories import KernelWish, Workshop
from notebook_bcc.runs.folder import Input, RunFolder, check_inputs
from notebook_bcc.runs.lifecycle import RunOrder, read_entries
from notebook_bcc.runs.packages import check_packages
from notebook_bcc.runs.recording import Recording, read_recording
from notebook_bcc.server.metrics import Counted
from notebook_bcc.settings import Settings, read_address, read_model_keys, without_credentials

# How a run's first record names its planner; what follows the colon is where the planner finds its answers.
SCRIPT_PLANNER = "script"
PLAYBOOK_PLANNER = "playbook"
LLM_PLANNER = "llm"
# These plan in this process, by a playbook of the run's own.
_BY_PLAYBOOK = (PLAYBOOK_PLANNER, LLM_PLANNER)
DEFAULT_PLAYBOOK = "dslc"
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
    """How a run's record names the planner a person asked for: `script`, `playbook`, `llm`, or an address without
    credentials.

    `v1+` before the address names the first dialect. Raises SettingsInvalid.
    """
    if wish in (SCRIPT_PLANNER, *_BY_PLAYBOOK):
        if dialect is not None:
            raise SettingsInvalid("--dialect is for a planner at an address: give one with --planner")
        return wish
    address = settings.dslc_base_url if wish == REMOTE_PLANNER else read_address(wish, option="--planner")
    return f"{FIRST_DIALECT if dialect == 'v1' else ''}{without_credentials(address)}"


def dialect_of(spec: str) -> Dialect:
    """What the planner of a record speaks."""
    return "v1" if spec.startswith(FIRST_DIALECT) else "v2"


def script_planner(path: Path) -> Planner:
    """The planner of a script that is in no run. Raises MessageInvalid, PlanInvalid."""
    return ScriptedPlanner.from_script(read_script(path))


def playbook_planner(files: PlaybookFiles, *, has_model: bool = False) -> Planner:
    """The planner that works by the rules of a playbook, alone or behind a language model. Raises MessageInvalid."""
    return PlaybookPlanner(load_playbook(files), has_model=has_model)


def llm_planner(files: ChoiceFiles, guide: Planner, *, keys: Mapping[str, str], settings: Settings) -> LlmPlanner:
    """The planner that asks these models, with a guide behind them. Raises SettingsInvalid."""
    return _llm_maker(files, guide, keys=keys, settings=settings)()


def llm_service(files: ChoiceFiles, playbook: str, *, limits: Limits, settings: Settings) -> ModelService:
    """The same for a service: many runs, and a budget of the process. Raises MessageInvalid, SettingsInvalid."""
    check_choice(files, limits=limits)
    guide = playbook_planner(open_playbook(playbook or DEFAULT_PLAYBOOK), has_model=True)
    make = _llm_maker(files, guide, keys=read_model_keys(), settings=settings)
    return ModelService(make, budget=budget_of(limits), fallback=files.choice.fallback)


def model_counts(service: ModelService) -> tuple[Counted, ...]:
    """What the models of a service took, for its metrics."""
    spent = service.spent
    return (
        Counted("model_calls", "Questions to a model.", spent.calls),
        Counted("model_failures", "Questions that a model did not answer to the end.", service.failures),
        Counted("model_input_tokens", "Tokens of prompts; estimated where they are not counted.", spent.input_tokens),
        Counted("model_output_tokens", "Tokens of answers; estimated where they are not counted.", spent.output_tokens),
    )


def _llm_maker(
    files: ChoiceFiles, guide: Planner, *, keys: Mapping[str, str], settings: Settings
) -> Callable[[], LlmPlanner]:
    """Makes planners with accounts of their own and the same models behind them."""
    choice, prices, prompts = files.choice, files.table(), read_prompts(files.prompts)
    models = {model: open_model(access(model, keys)) for model in choice.names}
    secrets = [one for one in keys.values() if one]

    def made() -> LlmPlanner:
        # The run says what may be spent and what was, each time something is asked.
        account = Account(budget=Budget(), prices=prices, secrets=secrets)

        def asker(model: ModelName) -> Asker:
            return Asker(models[model], account, timeout=settings.dslc_timeout)

        return LlmPlanner(
            guide=guide,
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
    keys, prices = read_model_keys(), files.table()
    read_prompts(files.prompts)
    for model in files.choice.names:
        check_library(model)
        access(model, keys)
        check_budget(budget_of(limits), model=str(model), price=prices.of(str(model)))


def kept_choice(folder: RunFolder) -> ChoiceFiles:
    """The models that a run was given. Raises MessageInvalid, RunRefused."""
    if not folder.models.exists():
        raise RunRefused(f"run {folder.run_id!r} was given no language model; begin one with: nbcc run --planner llm")
    return ChoiceFiles(
        choice=read_choice(folder.models),
        prices=folder.prices if folder.prices.exists() else None,
        prompts=folder.prompts if folder.prompts.exists() else None,
    )


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
    if spec == PLAYBOOK_PLANNER:
        return playbook_planner(open_playbook(str(folder.playbook)))
    if spec == LLM_PLANNER:
        files = kept_choice(folder)
        guide = playbook_planner(open_playbook(str(folder.playbook)), has_model=True)
        return llm_planner(files, guide, keys=read_model_keys(), settings=settings)
    if spec.startswith(REPLAY_PLANNER):
        source = RunFolder(Path(spec.removeprefix(REPLAY_PLANNER)))
        recording = await read_recording(read_entries(source))
        own = [entry async for entry in read_entries(folder)]
        return recording.planner(asked=own)
    raise RunRefused(f"run {folder.run_id!r} was planned by {spec!r}, which this version does not know")


def run_order(order: RunOrder, path: Path | None) -> RunOrder:
    """The order for a run of a script, or of a planner that needs none. All is checked before anything is on disk.

    A script that another planner plans for gives its goal, its name and its data files.
    Raises MessageInvalid, PlanInvalid, KernelStartFailed, RunRefused.
    """
    if not order.kernel_url:
        find_kernelspec(order.kernel)
    if path is None:
        if order.planner in (SCRIPT_PLANNER, *_BY_PLAYBOOK) or not order.goal:
            raise RunRefused("there is nothing to carry out: give a data file, a script, or --planner and --goal")
        return replace(order, name=order.name or order.goal)
    if order.planner in _BY_PLAYBOOK:
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


def data_order(order: RunOrder, wish: DataWish, *, playbook: str = "") -> RunOrder:
    """The order for a run that begins with data. All is checked before anything is on disk.

    The embedded planners work by the playbook of that name; a planner elsewhere has no use for one.
    Raises MessageInvalid, KernelStartFailed, RunRefused, SettingsInvalid.
    """
    if order.planner == SCRIPT_PLANNER:
        raise RunRefused(f"{str(wish.data)!r} is a data file: a script cannot plan for it")
    if order.models is not None:
        check_choice(order.models, limits=order.limits)
    inputs = data_inputs(wish)
    check_inputs(inputs)
    check_data(wish)
    name = playbook or DEFAULT_PLAYBOOK
    rules = open_playbook(name) if order.planner in _BY_PLAYBOOK else None
    if rules is not None:
        playbook_planner(rules)
    if not order.kernel_url:
        find_kernelspec(order.kernel)
        # What somebody's own playbook imports is theirs to know.
        if rules is not None and name in builtin_playbooks():
            check_packages(order.kernel, [one.source for one in inputs])
    return replace(
        order,
        name=order.name or default_name(wish),
        goal=wish.goal or default_goal(wish),
        variables={INPUTS: told_inputs(wish)},
        inputs=inputs,
        playbook=rules,
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
        inputs=tuple(
            Input(source=path, name=str(source.inputs_place / path.relative_to(source.inputs))) for path in inputs
        ),
    )


def _kept_script(folder: RunFolder) -> Script:
    try:
        content = folder.script.read_bytes()
    except OSError as error:
        problem = f"the run's copy of its script cannot be read: {error.strerror or error}"
        raise MessageInvalid(what=f"script {folder.script}", problems=[("", problem)]) from error
    return parse_script(content, source=f"script {folder.script}")
