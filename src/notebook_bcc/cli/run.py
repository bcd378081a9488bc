"""`nbcc run`: from a data file, or from a script, to the executed notebook."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Annotated

import typer

from notebook_bcc.api.options import RunOptions, keywords_of
from notebook_bcc.cli.options.data import (
    GoalOption,
    GroupOption,
    KeepOption,
    KindOption,
    PlaybookOption,
    SheetOption,
    TableOption,
    TargetOption,
    TaskOption,
    TestOption,
    TimeOption,
    VarOption,
)
from notebook_bcc.cli.options.model import (
    BudgetCallsOption,
    BudgetCostOption,
    BudgetSecondsOption,
    BudgetTokensOption,
    FallbackOption,
    ImagesOption,
    ModelOption,
    PlanningModelOption,
    PricesOption,
    PromptsOption,
    ShareOption,
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
    NoVerifyOption,
    OnErrorOption,
    OnOutageOption,
    OnUnachievedOption,
    OutOption,
    QuietOption,
    RunsOption,
    SandboxOption,
    StreamOption,
    StrictOption,
    TokenFileOption,
)
from notebook_bcc.views.words import Words


async def run_command(
    context: typer.Context,
    what: Annotated[
        Path | None,
        typer.Argument(
            help="A data file (CSV, TSV, Excel, Parquet, Feather, JSON, JSON lines, SQLite), or a script in YAML.",
            metavar="DATA|SCRIPT.yaml",
            show_default=False,
        ),
    ] = None,
    test: TestOption = None,
    target: TargetOption = None,
    goal: GoalOption = "",
    task: TaskOption = "",
    variables: VarOption = None,
    time: TimeOption = "",
    group: GroupOption = "",
    kind: KindOption = None,
    keep: KeepOption = None,
    sheet: SheetOption = "",
    table: TableOption = "",
    playbook: PlaybookOption = "",
    lang: LangOption = None,
    out: OutOption = "",
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace files at --out that nbcc did not write.")
    ] = False,
    name: Annotated[str, typer.Option("--name", help="A name for the run; it becomes part of its id.")] = "",
    run_id: Annotated[
        str,
        typer.Option(
            "--id",
            help="An id of your own: the run of that id is started, or goes on, or is done already. With other data or "
            "another target it is refused.",
            metavar="ID",
        ),
    ] = "",
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="With --id, while another process carries the run out.")
    ] = True,
    planner: Annotated[
        str,
        typer.Option(
            "--planner",
            help="Who plans: `llm` for a language model (see --model), the DSLC service at a URL, or `remote` for the "
            "one at DSLC_BASE_URL. Default: the script, or for data the playbook. [env: DSLC_TOKEN for its token]",
            metavar="llm|URL",
        ),
    ] = "",
    model: ModelOption = "",
    planning_model: PlanningModelOption = "",
    share: ShareOption = None,
    fallback: FallbackOption = None,
    images: ImagesOption = False,
    budget_tokens: BudgetTokensOption = None,
    budget_cost: BudgetCostOption = None,
    budget_seconds: BudgetSecondsOption = None,
    budget_calls: BudgetCallsOption = None,
    prices: PricesOption = None,
    prompts: PromptsOption = None,
    dialect: DialectOption = None,
    stream: StreamOption = None,
    notebook_detail: NotebookDetailOption = None,
    token_file: TokenFileOption = None,
    kernel: Annotated[str, typer.Option("--kernel", help="The Jupyter kernel to run cells in.")] = "python3",
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
    no_verify: NoVerifyOption = False,
    web: Annotated[
        bool, typer.Option("--web", help="Show the run in a browser too, on this machine; see `nbcc web`.")
    ] = False,
    runs: RunsOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Analyse a data file, or carry out a script, in a real Jupyter kernel; write the executed notebook and a report.

    \b
      nbcc run houses.csv --target SalePrice                   analyse, model, and say how far to trust it
      nbcc run train.csv --test test.csv --target SalePrice    and predict the rows of another file
      nbcc run houses.csv                                      no target: explore
      nbcc run houses.csv --goal "mean price by district?"     a question: the answer, or why there is none
      nbcc run houses.csv --target SalePrice --task drivers    what goes along with the price
      nbcc run 房价.xlsx --target 价格 --lang zh               notebook, report and view in Chinese
      nbcc run hello.yaml                                      carry out a script of your own
      nbcc run houses.csv --target SalePrice --id nightly-7    start it, or go on with it

    Data files are copied into the run's folder; the originals are never touched. At the end there are notebook.ipynb,
    report.html, and what the run has made: the model, predictions, figures, a summary. `--out results/` puts all of
    it there. No network, key or service is needed; the analysis needs `pip install "notebook-bcc[ml]"`.

    Every step is in a journal before the next begins: after a crash, a kill or a power cut `nbcc resume last` goes on
    from the last completed action. Ctrl-C once pauses after the current action, twice stops at once; both can be
    resumed. When the workflow is completed the notebook is run again in a fresh kernel and stamped as verified.

    The analysis follows a playbook, a folder of rules and templates (`nbcc playbook new` copies one to edit). When it
    finds something that changes its plan, you are asked; where nobody is there to ask, its changes are accepted.
    When it cannot go on without an answer it stops, and `nbcc resume last --set target=...` gives one.

    With --planner llm a language model writes the cells, and the playbook keeps it honest: what it promises is checked,
    and what the model does not manage the playbook writes. Before anything is asked it is said which model is told
    what, and where; by default names, types and aggregate numbers of the data, and no cell values. A budget ends the
    run in a valid notebook, and `nbcc resume last --budget-tokens N` goes on.

    \b
      nbcc run houses.csv --target SalePrice --planner llm --model openai:gpt-4o-mini --budget-cost 0.50
      nbcc run houses.csv --planner llm --model http://127.0.0.1:11434/v1#llama3.1 --share none

    With --planner URL a service plans instead; a script or data given as well bring their files, and --var the
    variables that it expects. With --kernel-url the cells run behind a Jupyter Server; `nbcc backend` starts one.

    \b
      nbcc run --planner URL --goal "Predict prices" --var csv_file_path=/data/train.csv --var folds=5

    \b
    Afterwards:
      nbcc show last                what was planned and done, and the files
      nbcc export last --to script  the code alone
      nbcc list                     all runs

    \b
    A script, and a session with it:
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
      $ nbcc show last

    Exit codes: 0 completed, 1 failed, 2 bad input, 3 stopped and resumable, 4 cancelled, 5 not verified, 6 locked,
    7 journal unreadable, 8 completed without an answer.
    """
    # Not for `--help`: what carries a run out takes longer to load than its options.
    from notebook_bcc.api.opening import opened
    from notebook_bcc.api.prepare import prepare
    from notebook_bcc.cli.carry import carry_out
    from notebook_bcc.cli.console import ConsolePerson
    from notebook_bcc.cli.view.choice import choose_view, is_terminal
    from notebook_bcc.cli.web import page_beside, until_closed

    # Every option above is a field of RunOptions, read from the context by its name.
    options = RunOptions(**keywords_of(context.params | {"verify": not no_verify}))
    prepared = prepare(what, options)
    words = Words(prepared.settings.lang)
    view = choose_view(words, as_json=as_json, quiet=quiet, verifies=options.verify)
    if prepared.order.models is not None:
        say_models(prepared.order.models, view, words)
    carrying = functools.partial(
        carry_out,
        functools.partial(opened, prepared),
        view=view,
        words=words,
        person=ConsolePerson(view, words) if is_terminal() and not as_json else None,
        verify=options.verify,
    )
    if not web:
        return await carrying()
    async with page_beside(prepared.settings, view.say, words):
        code = await carrying()
        if is_terminal():
            view.say(words("page_stays"))
            await until_closed()
        return code
