"""`nbcc run`: a workflow from its script to the executed notebook."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from notebook_bcc.cli.carry import carry_out
from notebook_bcc.cli.console import ConsolePerson
from notebook_bcc.cli.options import (
    CellTimeoutOption,
    ConfirmOption,
    DialectOption,
    InteractiveOption,
    JsonOption,
    KernelUrlOption,
    LangOption,
    MaxActionsOption,
    MaxBehaviorsOption,
    MaxSecondsOption,
    NoVerifyOption,
    OnErrorOption,
    OnUnachievedOption,
    QuietOption,
    RunsOption,
    StrictOption,
    TokenFileOption,
    choose_view,
    given,
    is_terminal,
    settings_of,
)
from notebook_bcc.cli.words import Words
from notebook_bcc.journal.records import Limits, Policies
from notebook_bcc.runs.lifecycle import started
from notebook_bcc.wiring import SCRIPT_PLANNER, planner_spec, run_order, workshop


async def run_command(
    script: Annotated[
        Path | None, typer.Argument(help="The script: a YAML file.", metavar="[SCRIPT.yaml]", show_default=False)
    ] = None,
    planner: Annotated[
        str,
        typer.Option(
            "--planner",
            help="Who plans: `script`, the DSLC service at a URL, or `remote` for the one at DSLC_BASE_URL. "
            "[env: DSLC_TOKEN for its token]",
            metavar="URL",
        ),
    ] = SCRIPT_PLANNER,
    dialect: DialectOption = None,
    token_file: TokenFileOption = None,
    goal: Annotated[str, typer.Option("--goal", help="The goal, in place of the script's.")] = "",
    name: Annotated[str, typer.Option("--name", help="A name for the run; it becomes part of its id.")] = "",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write the notebook here instead of into the run's folder.")
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a file at --out that nbcc did not write.")
    ] = False,
    kernel: Annotated[str, typer.Option("--kernel", help="The Jupyter kernel to run cells in.")] = "python3",
    kernel_url: KernelUrlOption = None,
    confirm: ConfirmOption = None,
    on_error: OnErrorOption = None,
    on_unachieved: OnUnachievedOption = None,
    strict_actions: StrictOption = None,
    max_actions: MaxActionsOption = None,
    max_behaviors: MaxBehaviorsOption = None,
    max_seconds: MaxSecondsOption = None,
    cell_timeout: CellTimeoutOption = None,
    interactive: InteractiveOption = None,
    no_verify: NoVerifyOption = False,
    runs: RunsOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    lang: LangOption = None,
) -> int:
    """Carry out a workflow in a real Jupyter kernel and write the executed notebook.

    Every step is in a journal before the next begins: after a crash, a kill or a power cut `nbcc resume` goes on
    from the last completed action. Ctrl-C once pauses after the current action, twice stops at once; both can be
    resumed. When the workflow is completed the notebook is run again in a fresh kernel and stamped as verified.

    With --planner a service plans, and no script is needed; one that is given brings its goal, its name and its data
    files. With --kernel-url the cells run behind a Jupyter Server; `nbcc backend` starts one.

    \b
    A session:
      $ cat > hello.yaml
      goal: Say hello and count
      stages:
        - id: start
          steps:
            - id: greet
              behaviors:
                - actions:
                    - code: print("hello")
                    - code: numbers = list(range(10)); sum(numbers)
      $ nbcc run hello.yaml
      $ nbcc list
      $ nbcc show last
      $ nbcc export last --to html

    Exit codes: 0 completed, 1 failed, 2 bad input, 3 stopped and resumable, 4 cancelled, 5 not verified, 6 locked,
    7 journal unreadable.
    """
    settings = settings_of(
        runs=runs,
        lang=lang,
        max_actions=max_actions,
        interactive=interactive,
        kernel_url=kernel_url,
        token_file=token_file,
    )
    words = Words(settings.lang)
    order = run_order(
        script,
        planner=planner_spec(planner, dialect=dialect, settings=settings),
        policies=Policies(
            interactive=settings.interactive_mode,
            **given(confirm=confirm, on_error=on_error, on_unachieved=on_unachieved, strict_actions=strict_actions),
        ),
        limits=Limits(
            actions=settings.max_execution_steps,
            **given(behaviors_per_step=max_behaviors, run_seconds=max_seconds, cell_seconds=cell_timeout),
        ),
        name=name,
        goal=goal,
        kernel=kernel,
        kernel_url=settings.kernel_url,
        out=out,
        overwrite=overwrite,
    )
    view = choose_view(words, as_json=as_json, quiet=quiet)
    tools = workshop(settings)
    return await carry_out(
        lambda company: started(order, root=settings.runs, workshop=tools, company=company),
        view=view,
        words=words,
        person=ConsolePerson(view, words) if is_terminal() and not as_json else None,
        verify=not no_verify,
    )
