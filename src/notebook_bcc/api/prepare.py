"""From what was said to the order of a run: data or script, planner, models, policies, limits. All is checked first."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, get_args

from notebook_bcc.api.identity import identity_of
from notebook_bcc.api.options import RunOptions, TargetKind
from notebook_bcc.errors import SettingsInvalid
from notebook_bcc.journal.records import INPUTS
from notebook_bcc.lifecycle.data_check import check_place
from notebook_bcc.lifecycle.data_files import DataSpec, format_of, is_script
from notebook_bcc.lifecycle.folder import RunFolder, check_run_id
from notebook_bcc.lifecycle.history import load_state
from notebook_bcc.lifecycle.order import ResumeOrder, RunOrder
from notebook_bcc.lifecycle.sandboxing import sandbox_to_begin
from notebook_bcc.llm.choice import ChoiceFiles, LlmChoice
from notebook_bcc.protocol.limits import Limits, Policies
from notebook_bcc.protocol.plain import canonical_bytes
from notebook_bcc.protocol.specs import LlmPlannerSpec
from notebook_bcc.protocol.vocabulary import Language
from notebook_bcc.settings import Settings
from notebook_bcc.wiring import (
    LLM_PLANNER,
    PLAYBOOK_PLANNER,
    SCRIPT_PLANNER,
    check_choice,
    data_order,
    journals,
    kept_choice,
    kernel_spec,
    make_registry,
    planner_spec,
    run_order,
    try_rung,
    wanted_notebook,
)

_MEMORY_SHARE: Final = 0.75
_MODEL_LIMITS: Final = {"cell_seconds": 3600.0, "processes": 512, "disk_bytes": 20_000_000_000}
_EMBEDDED = ("", PLAYBOOK_PLANNER, LLM_PLANNER)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A run that can begin. `resume` is how one of the same id goes on that has begun already; `remarks` are what must
    be said when it begins."""

    settings: Settings
    order: RunOrder
    resume: ResumeOrder
    wait: bool = True
    remarks: tuple[str, ...] = ()


def prepare(what: Path | None, options: RunOptions, *, digests: Mapping[str, str] | None = None) -> Prepared:
    """Check everything that was said. Nothing is on disk yet.

    `digests` stand for the content of files that were written for this call, by the names in `identity_of`.
    Raises MessageInvalid, PlanInvalid, KernelStartFailed, RunRefused, SettingsInvalid.
    """
    _check_limits(options)
    settings = options.settings()
    if options.stream is not None and options.planner in (*_EMBEDDED, SCRIPT_PLANNER):
        raise SettingsInvalid("--stream and --no-stream are for a planner at an address: give one with --planner")
    given_id = check_run_id(options.run_id) if options.run_id else ""
    spec = data_spec(what, options, lang=settings.lang)
    default = PLAYBOOK_PLANNER if spec is not None else SCRIPT_PLANNER
    out_file, out_folder = out_paths(str(options.out))
    models = chosen_models(options)
    actions = Path(options.actions) if options.actions is not None else None
    # What cannot be registered is known before anything is on disk.
    make_registry(actions)
    planner = planner_spec(options.planner or default, dialect=options.dialect, settings=settings)
    kernel = kernel_spec(settings, options.kernel)
    remarks: list[str] = []
    sandbox = sandbox_to_begin(
        options.sandbox_request, planner=planner, kernel=kernel, try_rung=try_rung, warn=remarks.append
    )
    order = RunOrder(
        name=options.name,
        planner_spec=planner,
        goal=options.goal,
        variables=starting_variables(options, has_data=spec is not None),
        policies=_policies(options, settings, embedded=spec is not None and options.planner in _EMBEDDED),
        limits=_limits(settings, written_by_model=models is not None).model_copy(update=options.limits),
        kernel_spec=kernel,
        sandbox_spec=sandbox,
        models=models,
        actions=actions,
        out=out_file,
        out_folder=out_folder,
        overwrite=options.overwrite,
        notebook=wanted_notebook(settings),
        verify=options.verify,
        run_id=given_id,
    )
    order = run_order(order, what) if spec is None else data_order(order, spec, playbook=str(options.playbook))
    if given_id:
        order = replace(order, identity=identity_of(order, options, lang=settings.lang, digests=digests or {}))
    # Limits are those of this call, whatever they were before; what it does not say of policies stays.
    again = ResumeOrder(policies=options.policies, limits=order.limits.model_dump(), sandbox=options.sandbox_request)
    return Prepared(settings=settings, order=order, resume=again, wait=options.wait, remarks=tuple(remarks))


def _limits(settings: Settings, *, written_by_model: bool) -> Limits:
    """The limits that count where nothing was said. A model's code may run away, and nobody has read it before."""
    own = Limits(actions=settings.max_execution_steps)
    if not written_by_model:
        return own
    memory = int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * _MEMORY_SHARE)
    return own.model_copy(update={**_MODEL_LIMITS, "memory_bytes": memory})


def _check_limits(options: RunOptions) -> None:
    """Raises SettingsInvalid. A limit that is no number would make a journal that nobody can read again."""
    for name, value in options.limits.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
            raise SettingsInvalid(f"{name} must be a number that is not negative, and is {value!r}; 0 is no limit")


async def models_of(folder: RunFolder, order: ResumeOrder) -> ChoiceFiles | None:
    """The language models that will plan a run from here on, if any. Raises SettingsInvalid where they cannot be asked,
    MessageInvalid, RunRefused, JournalFailed."""
    planner = order.planner_spec
    # Folding a long journal takes a while: only where there may be models at all.
    if planner is None and folder.models.exists():
        planner = (await load_state(folder, journals())).planner
    files = kept_choice(folder) if isinstance(planner, LlmPlannerSpec) else None
    if files is not None:
        check_choice(files, limits=Limits().model_copy(update=dict(order.limits)))
    return files


def starting_variables(options: RunOptions, *, has_data: bool) -> dict[str, Any]:  # Any: JSON values
    """The variables that the run begins with. Raises SettingsInvalid."""
    found = dict(options.variables or {})
    for name, value in found.items():
        if not isinstance(name, str) or not name.isidentifier():
            raise SettingsInvalid(f"a starting variable cannot be called {name!r}: use letters, digits and _")
        if canonical_bytes(value) is None:
            raise SettingsInvalid(f"the starting variable {name!r} is not a JSON value: {type(value).__name__}")
    if has_data and INPUTS in found:
        raise SettingsInvalid(f"{INPUTS!r} is the variable that says which data the run has: choose another name")
    return found


def _policies(options: RunOptions, settings: Settings, *, embedded: bool) -> Policies:
    # The playbook's own changes are put to whoever is there, and accepted where nobody is.
    offered = {"confirm": "offer"} if embedded else {}
    if options.images and options.notebook_detail is not None:
        raise SettingsInvalid("give --images or --notebook-detail, not both: each says what goes along of the notebook")
    detail = {"notebook_detail": "figures"} if options.images else {}
    return Policies(**{"interactive": settings.interactive_mode, **offered, **detail, **options.policies})


def data_spec(what: Path | None, options: RunOptions, *, lang: Language) -> DataSpec | None:
    """What was said about data; None for a run without. Raises SettingsInvalid, RunRefused."""
    test = Path(options.test) if options.test is not None else None
    targets = options.targets
    said = {
        "--test": test,
        "--target": targets,
        "--time": options.time,
        "--group": options.group,
        "--kind": options.kind,
        "--keep": options.kept,
        "--sheet": options.sheet,
        "--table": options.table,
        "--task": options.task,
        "--playbook": options.playbook,
    }
    if what is None or is_script(what):
        stray = next((option for option, value in said.items() if value), None)
        if stray is not None:
            where = f"{str(what)!r} is a script" if what is not None else "there is no data file"
            raise SettingsInvalid(f"{stray} is for a run that begins with data, and {where}")
        return None
    for path in (what, test):
        if path is not None:
            check_place(path)
    form = format_of(what)
    if options.playbook and options.planner not in _EMBEDDED:
        raise SettingsInvalid("give --playbook or --planner, not both: a planner elsewhere has its own plan")
    if options.kind is not None and options.kind not in get_args(TargetKind):
        raise SettingsInvalid(f"--kind is {' or '.join(get_args(TargetKind))}, not {options.kind!r}")
    for option, wanted in (("--sheet", "excel"), ("--table", "sqlite")):
        if said[option] and form != wanted:
            raise SettingsInvalid(f"{option} is for {wanted} files, and {str(what)!r} is none")
    if len(set(targets)) != len(targets) or not all(one.strip() for one in targets):
        raise SettingsInvalid("--target names a column that is empty or was named before")
    return DataSpec(
        data=what,
        test=test,
        targets=targets,
        goal=options.goal,
        time=options.time,
        group=options.group,
        kind=options.kind or "",
        keep=options.kept,
        sheet=options.sheet,
        table=options.table,
        task=options.task,
        lang=lang,
    )


def chosen_models(options: RunOptions) -> ChoiceFiles | None:
    """What was said about models; None for a run without. Raises SettingsInvalid."""
    said = {
        "--model": options.model,
        "--planning-model": options.planning_model,
        "--share": options.share,
        "--fallback": options.fallback,
        "--images": options.images,
        "--prices": options.prices,
        "--prompts": options.prompts,
        "--budget-...": options.budgets,
    }
    if options.planner != LLM_PLANNER:
        stray = next((option for option, value in said.items() if value), None)
        if stray is not None:
            raise SettingsInvalid(f"{stray} is for a run that a language model plans: give --planner llm as well")
        return None
    if not options.model:
        raise SettingsInvalid("--planner llm needs --model: openai:NAME, anthropic:NAME, or URL#NAME of an endpoint")
    if options.images and options.share != "values":
        raise SettingsInvalid("--images sends figures, which show values of the data: give --share values as well")
    choice = LlmChoice(
        model=options.model,
        planning_model=options.planning_model,
        share=options.share or "schema",
        fallback=options.fallback or "playbook",
        images=options.images,
    )
    prices, prompts = (Path(one) if one is not None else None for one in (options.prices, options.prompts))
    return ChoiceFiles(choice=choice, prices=prices, prompts=prompts)


def out_paths(out: str) -> tuple[Path | None, Path | None]:
    """The notebook's own path, or the folder for everything, or neither."""
    if not out:
        return None, None
    path = Path(out)
    unmade = not path.suffix and not path.exists()
    is_folder = out.endswith("/") or unmade or (path.is_dir() and path.suffix != ".ipynb")
    return (None, path) if is_folder else (path, None)
