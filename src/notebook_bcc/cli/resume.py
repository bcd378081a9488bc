"""`nbcc resume`: a run that stopped, crashed or was killed goes on."""

from __future__ import annotations

from typing import Annotated

import typer

from notebook_bcc.api.opening import resuming
from notebook_bcc.api.options import RunOptions
from notebook_bcc.api.prepare import models_of
from notebook_bcc.cli.carry import carry_out
from notebook_bcc.cli.codes import Exit
from notebook_bcc.cli.console import ConsolePerson, user_name
from notebook_bcc.cli.options.data import SetOption, TargetOption, set_inputs
from notebook_bcc.cli.options.model import (
    BudgetCallsOption,
    BudgetCostOption,
    BudgetSecondsOption,
    BudgetTokensOption,
    say_models,
)
from notebook_bcc.cli.options.run import (
    ActionsOption,
    AllowNetOption,
    CellTimeoutOption,
    ConfirmOption,
    DialectOption,
    InteractiveOption,
    JsonOption,
    KernelUrlOption,
    LangOption,
    MaxActionsOption,
    MaxActionsPerBehaviorOption,
    MaxBehaviorsOption,
    MaxDiskOption,
    MaxMemoryOption,
    MaxProcessesOption,
    MaxSecondsOption,
    NotebookDetailOption,
    NotebookIdOption,
    OnErrorOption,
    OnOutageOption,
    OnUnachievedOption,
    QuietOption,
    RunArgument,
    RunsOption,
    SandboxOption,
    StreamOption,
    StrictOption,
    TokenFileOption,
    VerifyOption,
    given,
    settings_of,
)
from notebook_bcc.cli.view.choice import choose_view, is_terminal
from notebook_bcc.lifecycle.folder import RunFolder, find_run
from notebook_bcc.lifecycle.order import Restart, ResumeOrder
from notebook_bcc.lifecycle.sandbox_request import SandboxRequest
from notebook_bcc.lifecycle.server_copy import notebook_path
from notebook_bcc.settings import Settings
from notebook_bcc.views.words import Words
from notebook_bcc.wiring import kernel_spec, planner_spec, wanted_notebook


async def resume_command(
    run: RunArgument,
    assign: SetOption = None,
    target: TargetOption = None,
    answers: Annotated[
        int,
        typer.Option(
            "--answers", min=0, help="The number of the question, as `nbcc status` shows it: no other one is answered."
        ),
    ] = 0,
    restart: Annotated[
        Restart, typer.Option("--restart", help="After an error: the behavior, the whole workflow, or from nothing.")
    ] = "behavior",
    accept_differences: Annotated[
        bool, typer.Option("--accept-differences", help="Go on although a cell fails when the kernel is rebuilt.")
    ] = False,
    run_once: Annotated[
        list[str] | None,
        typer.Option("--run-once", help="A cell marked `once` that may be executed again.", metavar="CELL"),
    ] = None,
    planner: Annotated[
        str,
        typer.Option(
            "--planner",
            help="Another planner: a URL, `remote`, or its own `script`, `playbook` or `llm`.",
            metavar="URL",
        ),
    ] = "",
    budget_tokens: BudgetTokensOption = None,
    budget_cost: BudgetCostOption = None,
    budget_seconds: BudgetSecondsOption = None,
    budget_calls: BudgetCallsOption = None,
    dialect: DialectOption = None,
    stream: StreamOption = None,
    notebook_detail: NotebookDetailOption = None,
    token_file: TokenFileOption = None,
    kernel_url: KernelUrlOption = None,
    notebook_id: NotebookIdOption = None,
    confirm: ConfirmOption = None,
    on_error: OnErrorOption = None,
    on_unachieved: OnUnachievedOption = None,
    on_outage: OnOutageOption = None,
    strict_actions: StrictOption = None,
    actions: ActionsOption = None,
    max_actions: MaxActionsOption = None,
    max_behaviors: MaxBehaviorsOption = None,
    max_actions_per_behavior: MaxActionsPerBehaviorOption = None,
    max_seconds: MaxSecondsOption = None,
    cell_timeout: CellTimeoutOption = None,
    max_memory: MaxMemoryOption = None,
    max_processes: MaxProcessesOption = None,
    max_disk: MaxDiskOption = None,
    sandbox: SandboxOption = None,
    allow_net: AllowNetOption = False,
    interactive: InteractiveOption = None,
    verify: VerifyOption = None,
    runs: RunsOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    lang: LangOption = None,
) -> int:
    """Go on with a run from its last completed action.

    Plan and notebook come from the journal. The kernel's variables come from the newest checkpoint, and the cells after
    it that had succeeded are run again; their outputs are compared with the recorded ones, and differences are
    reported. No completed action is carried out a second time. Policies and limits stay as they were unless they are
    given here; so do the planner and the place of the kernel.

    A run whose planner has asked something goes on when it is told: --set NAME=VALUE, or --target COLUMN. The first
    answer counts; a later one is refused.

    \b
      nbcc resume last --target price        after a question about the target
      nbcc resume last                       after a stop, a crash, a kill, an error
      nbcc resume last --max-actions 500     after a limit
      nbcc resume last --budget-tokens 90000  after a budget: so much in all, what was spent before included
      nbcc resume last --planner playbook    the same, and the playbook does the rest without a model
      nbcc resume last --restart workflow    the whole workflow again, after an error
      nbcc resume last --restart reset       from nothing, also after a cancel or a completed run
    """
    settings = settings_of(
        runs=runs,
        lang=lang,
        interactive=interactive,
        kernel_url=kernel_url,
        notebook_id=notebook_id,
        token_file=token_file,
    )
    order = ResumeOrder(
        restart=restart,
        accept_differences=accept_differences,
        run_once=tuple(run_once or ()),
        policies=given(
            confirm=confirm,
            on_error=on_error,
            on_unachieved=on_unachieved,
            on_outage=on_outage,
            strict_actions=strict_actions,
            stream=stream,
            notebook_detail=notebook_detail,
            interactive=interactive,
        ),
        limits=RunOptions(
            max_actions=max_actions,
            max_behaviors=max_behaviors,
            max_actions_per_behavior=max_actions_per_behavior,
            max_seconds=max_seconds,
            cell_timeout=cell_timeout,
            max_memory=max_memory,
            max_processes=max_processes,
            max_disk=max_disk,
            budget_tokens=budget_tokens,
            budget_cost=budget_cost,
            budget_seconds=budget_seconds,
            budget_calls=budget_calls,
        ).limits,
        planner_spec=planner_spec(planner, dialect=dialect, settings=settings) if planner else None,
        # Where no other place is named the run stays where it was.
        kernel_spec=kernel_spec(settings) if kernel_url is not None or settings.use_remote_execution else None,
        sandbox=SandboxRequest(sandbox, allow_net=allow_net),
        inputs=set_inputs(assign or [], target or []),
        answers=answers,
        by=user_name(),
        # The run's own kernel may have a server whatever the settings say.
        notebook=notebook_path(notebook_id) if notebook_id is not None else wanted_notebook(settings),
        actions=actions,
    )
    folder = find_run(settings.runs, run)
    return await go_on(folder, order, settings=settings, verify=verify, as_json=as_json, quiet=quiet)


async def go_on(
    folder: RunFolder,
    order: ResumeOrder,
    *,
    settings: Settings,
    verify: bool | None = None,
    as_json: bool = False,
    quiet: bool = False,
) -> Exit:
    """Take a run up again in front of the user. `verify` is as the run was begun, unless it is said."""
    verify = folder.destination.verify if verify is None else verify
    models = await models_of(folder, order)
    words = Words(settings.lang)
    view = choose_view(words, as_json=as_json, quiet=quiet, verifies=verify)
    if models is not None:
        say_models(models, view, words)
    return await carry_out(
        resuming(folder, order, settings=settings),
        view=view,
        words=words,
        person=ConsolePerson(view, words) if is_terminal() and not as_json else None,
        verify=verify,
    )
