"""The options that several commands share, and what is made of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from notebook_bcc.api.options import Confirm, NotebookDetail, OnError, OnOutage, OnUnachieved
from notebook_bcc.api.options import given as given
from notebook_bcc.api.options import settings_of as settings_of
from notebook_bcc.errors import BccError
from notebook_bcc.lifecycle.folder import LAST, run_folders
from notebook_bcc.lifecycle.sandbox_request import SandboxChoice
from notebook_bcc.protocol.vocabulary import Dialect, Language


def complete_run(context: typer.Context, incomplete: str) -> list[str]:
    """For Tab in a shell: the runs whose ids begin so, newest first, and `last`. No journal is read."""
    try:
        root = settings_of(runs=context.params.get("runs")).runs
    except BccError:
        return []
    return [name for name in (LAST, *(one.run_id for one in run_folders(root))) if name.startswith(incomplete)]


RunArgument = Annotated[
    str,
    typer.Argument(
        help="A run: its id, the start of one, a path, or `last`.", metavar="RUN", autocompletion=complete_run
    ),
]
RunsOption = Annotated[
    Path | None, typer.Option("--runs", help="Where runs are kept. [env: NBCC_RUNS; default: ./nbcc-runs]")
]
JsonOption = Annotated[bool, typer.Option("--json", help="For machines: one JSON object a line on stdout.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Say only what went wrong.")]
LangOption = Annotated[
    Language | None,
    typer.Option(
        "--lang", help="Language of the view, and of what is written about data. [env: NBCC_LANG; default: your locale]"
    ),
]
OutOption = Annotated[
    str,
    typer.Option(
        "--out",
        "-o",
        help="FILE.ipynb: the notebook goes there. FOLDER: the notebook, the report and all files do.",
        metavar="PATH",
    ),
]
NoVerifyOption = Annotated[
    bool, typer.Option("--no-verify", help="Do not run the finished notebook again in a fresh kernel.")
]
VerifyOption = Annotated[
    bool | None,
    typer.Option(
        "--verify/--no-verify",
        help="Run the finished notebook again in a fresh kernel, or not. Default: as the run was begun.",
    ),
]
InteractiveOption = Annotated[
    bool | None,
    typer.Option("--interactive/--no-interactive", help="Ask at limits instead of stopping. [env: INTERACTIVE_MODE]"),
]
ConfirmOption = Annotated[
    Confirm | None, typer.Option("--confirm", help="Changes of the plan: ask a person, accept, or decline.")
]
OnErrorOption = Annotated[
    OnError | None,
    typer.Option("--on-error", help="A failing cell: tell the planner, go on regardless, or fail the run."),
]
OnUnachievedOption = Annotated[
    OnUnachieved | None, typer.Option("--on-unachieved", help="A step that misses its goal: fail, or go on without.")
]
OnOutageOption = Annotated[
    OnOutage | None,
    typer.Option(
        "--on-outage",
        help="A planner that gives no judgement: stop until resumed (default), or go on as if the goal was missed.",
    ),
]
MaxActionsOption = Annotated[
    int | None, typer.Option("--max-actions", min=0, help="Stop after so many actions. [env: MAX_EXECUTION_STEPS]")
]
MaxBehaviorsOption = Annotated[
    int | None, typer.Option("--max-behaviors", min=0, help="Behaviors one step may have. [default: 30; 0: no limit]")
]
MaxActionsPerBehaviorOption = Annotated[
    int | None,
    typer.Option(
        "--max-actions-per-behavior",
        min=0,
        help="Actions one behavior may have, which is one answer of the planner. [default: 1000; 0: no limit]",
    ),
]
MaxSecondsOption = Annotated[float | None, typer.Option("--max-seconds", min=0, help="Stop after so many seconds.")]
CellTimeoutOption = Annotated[float | None, typer.Option("--cell-timeout", min=0, help="Seconds one cell may take.")]
MaxMemoryOption = Annotated[
    float | None,
    typer.Option("--max-memory", min=0, help="Memory a kernel and what it starts may take.", metavar="GB"),
]
MaxProcessesOption = Annotated[
    int | None, typer.Option("--max-processes", min=0, help="Processes a kernel may have, itself among them.")
]
MaxDiskOption = Annotated[
    float | None, typer.Option("--max-disk", min=0, help="What a run's working directory may hold.", metavar="GB")
]
SandboxOption = Annotated[
    SandboxChoice | None,
    typer.Option(
        "--sandbox",
        help="Confine cells to the run's files, without the network: by whatever works here, by one of the two, or not "
        "at all. Default: auto for code of a model or of another machine, off for your own script and the playbook.",
    ),
]
AllowNetOption = Annotated[bool, typer.Option("--allow-net", help="In a sandbox: share the network of this machine.")]
DialectOption = Annotated[
    Dialect | None, typer.Option("--dialect", help="What the planner speaks: v2 (default), or v1 for older ones.")
]
StreamOption = Annotated[
    bool | None,
    typer.Option(
        "--stream/--no-stream", help="Ask a planner at a URL for actions one by one (default), or all at once."
    ),
]
NotebookDetailOption = Annotated[
    NotebookDetail | None,
    typer.Option(
        "--notebook-detail", help="What the planner sees of the notebook: a summary (default), or its cells as well."
    ),
]
TokenFileOption = Annotated[
    Path | None,
    typer.Option("--token-file", help="A file with the token, in place of the environment's.", metavar="FILE"),
]
KernelUrlOption = Annotated[
    str | None,
    typer.Option(
        "--kernel-url",
        help="Run cells behind this Jupyter Server; `local`: in a process of ours. [env: USE_REMOTE_EXECUTION, "
        "BACKEND_BASE_URL, BACKEND_TOKEN]",
        metavar="URL",
    ),
]
ActionsOption = Annotated[
    Path | None,
    typer.Option(
        "--actions",
        help="A Python file whose `register(registry)` adds custom actions. It runs in this process, not in a kernel.",
        metavar="FILE.py",
    ),
]
NotebookIdOption = Annotated[
    str | None,
    typer.Option(
        "--notebook-id",
        help="Keep the notebook on the Jupyter Server of --kernel-url under this path while the run goes on. "
        "[env: NOTEBOOK_ID]",
        metavar="PATH",
    ),
]
StrictOption = Annotated[
    bool | None,
    typer.Option("--strict-actions/--lenient-actions", help="An unknown action is an error, not a warning."),
]
