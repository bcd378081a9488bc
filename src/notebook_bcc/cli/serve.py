"""`nbcc serve`: the DSLC service in front of a script, a playbook, a recorded run or a language model."""

from __future__ import annotations

import functools
import sys
from pathlib import Path
from typing import Annotated

import typer

from notebook_bcc.api.options import RunOptions
from notebook_bcc.api.prepare import chosen_models
from notebook_bcc.cli.options.model import (
    BudgetCallsOption,
    BudgetCostOption,
    BudgetSecondsOption,
    BudgetTokensOption,
    FallbackOption,
    ModelOption,
    PlanningModelOption,
    PricesOption,
    PromptsOption,
    ShareOption,
    say_models,
)
from notebook_bcc.cli.options.run import LangOption, RunsOption, TokenFileOption, settings_of
from notebook_bcc.cli.stopping import until_stopped
from notebook_bcc.cli.view.plain import QuietView
from notebook_bcc.errors import SettingsInvalid
from notebook_bcc.lifecycle.folder import find_run
from notebook_bcc.planners.interface import Planner
from notebook_bcc.playbook.folder import open_playbook
from notebook_bcc.protocol.limits import Limits
from notebook_bcc.server.app import build_app
from notebook_bcc.server.metrics import Counts
from notebook_bcc.server.serving import serve
from notebook_bcc.server.settings import DEFAULT_PORT, ServerSettings, is_loopback, new_token
from notebook_bcc.views.narration import Tone
from notebook_bcc.views.words import Words
from notebook_bcc.wiring import (
    DEFAULT_PLAYBOOK,
    LLM_PLANNER,
    llm_service,
    model_counts,
    playbook_planner,
    recorded_planner,
    script_planner,
)

_GRACE = 5.0


async def serve_command(
    script: Annotated[
        Path | None, typer.Argument(help="The script to plan from.", metavar="[SCRIPT.yaml]", show_default=False)
    ] = None,
    playbook: Annotated[
        str,
        typer.Option(
            "--playbook",
            help="Plan by this playbook: a name, or a folder. [default: dslc, where nothing else is given]",
            metavar="NAME|DIR",
        ),
    ] = "",
    replay: Annotated[
        str, typer.Option("--replay", help="Give the answers that this run was given.", metavar="RUN")
    ] = "",
    planner: Annotated[
        str,
        typer.Option(
            "--planner",
            help="`llm`: a language model plans (see --model), by the playbook of --playbook or `dslc`.",
            metavar="llm",
        ),
    ] = "",
    model: ModelOption = "",
    planning_model: PlanningModelOption = "",
    share: ShareOption = None,
    fallback: FallbackOption = None,
    budget_tokens: BudgetTokensOption = None,
    budget_cost: BudgetCostOption = None,
    budget_seconds: BudgetSecondsOption = None,
    budget_calls: BudgetCallsOption = None,
    prices: PricesOption = None,
    prompts: PromptsOption = None,
    host: Annotated[str, typer.Option("--host", help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0 takes a free one.")] = DEFAULT_PORT,
    token_file: TokenFileOption = None,
    runs: RunsOption = None,
    lang: LangOption = None,
) -> None:
    """Answer planning and generating requests over HTTP until Ctrl-C, from a script, a playbook, a recorded run or a
    language model. Without any of them the built-in playbook `dslc` plans.

    When the service is ready, one line says its address. /docs there is a page about the endpoints, /openapi.json
    describes them, /health and /metrics tell how it is. It listens on this machine only, unless --host says otherwise;
    then whoever asks needs a token: the one of --token-file or DSLC_TOKEN, or one that is made up and shown once.

    With --planner llm the options are those of `nbcc run`; a budget is that of this service, for all runs together,
    from its start to its end. When it is used up the playbook writes; with --fallback stop nobody does.

    \b
      nbcc serve
      nbcc run houses.csv --target SalePrice --planner http://127.0.0.1:28600       in another terminal
      nbcc serve hello.yaml
      nbcc run --planner http://127.0.0.1:28600 --goal "Say hello"       in another terminal
      nbcc serve --playbook my-playbook/
      nbcc serve --planner llm --model openai:gpt-4o-mini --budget-cost 5
      nbcc run houses.csv --planner http://127.0.0.1:28600               in another terminal
    """
    options = RunOptions(
        planner=planner,
        model=model,
        planning_model=planning_model,
        share=share,
        fallback=fallback,
        prices=prices,
        prompts=prompts,
        budget_tokens=budget_tokens,
        budget_cost=budget_cost,
        budget_seconds=budget_seconds,
        budget_calls=budget_calls,
    )
    models = chosen_models(options)
    _check_source(script, playbook=playbook, replay=replay, planner=planner)
    if script is None and not (playbook or replay or planner):
        playbook = DEFAULT_PLAYBOOK
    settings = settings_of(runs=runs, lang=lang, token_file=token_file)
    words = Words(settings.lang)
    token = settings.dslc_token
    made_up = not token and not is_loopback(host)
    if made_up:
        token = new_token()
    offered = ServerSettings(host=host, port=port, token=token or None)
    counts: Counts = tuple
    if models is not None:
        service = llm_service(models, playbook, limits=Limits(**options.budgets), settings=settings)
        asked: Planner = service
        counts = functools.partial(model_counts, service)
        say_models(models, _Remarks(), words)
    elif script is not None:
        asked = script_planner(script)
    elif playbook:
        asked = playbook_planner(open_playbook(playbook))
    else:
        asked = await recorded_planner(find_run(settings.runs, replay))
    if made_up:
        print(words("token", token=token), flush=True)
    if not offered.is_loopback:
        print(words("unencrypted"), file=sys.stderr, flush=True)
    source = script.name if script is not None else model or playbook or replay

    def ready(url: str) -> None:
        print(words("serving", url=url, source=source), flush=True)

    try:
        await until_stopped(serve(build_app(asked, offered, counts=counts), ready=ready, grace=_GRACE))
    finally:
        await asked.close()


def _check_source(script: Path | None, *, playbook: str, replay: str, planner: str) -> None:
    if planner not in ("", LLM_PLANNER):
        raise SettingsInvalid(f"--planner {planner!r} cannot be served: `llm` can, and without --planner what is given")
    if planner and (script is not None or replay):
        raise SettingsInvalid("a language model plans by a playbook: give --playbook, not a script or a run")
    if not planner and [script is not None, bool(playbook), bool(replay)].count(True) > 1:
        raise SettingsInvalid(
            "give one thing to plan from: a script, a playbook with --playbook, a run with --replay, or --planner llm"
        )


class _Remarks(QuietView):
    """All that is said, on stderr: the one line of stdout is the address."""

    def say(self, text: str, *, tone: Tone = "info") -> None:
        print(text, file=sys.stderr, flush=True)
