"""The options of a run that a language model plans, and what is said about the models at its start."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from notebook_bcc.api.model_lines import model_lines
from notebook_bcc.llm.limits import Fallback, Share
from notebook_bcc.views.words import Words

if TYPE_CHECKING:
    from notebook_bcc.cli.view.plain import View
    from notebook_bcc.llm.choice import ChoiceFiles

ModelOption = Annotated[
    str,
    typer.Option(
        "--model",
        help="With --planner llm, the model that writes: openai:NAME, anthropic:NAME, or URL#NAME of any endpoint that "
        "answers as OpenAI does. Keys come from the environment: OPENAI_API_KEY, ANTHROPIC_API_KEY, NBCC_LLM_KEY.",
        metavar="MODEL",
    ),
]
PlanningModelOption = Annotated[
    str,
    typer.Option(
        "--planning-model",
        help="The model that judges; `none`: the playbook alone. [default: the one of --model]",
        metavar="MODEL",
    ),
]
ShareOption = Annotated[
    Share | None,
    typer.Option(
        "--share",
        help="What models may be told of the data: everything; names, types and aggregate numbers; or nothing. "
        "[default: schema]",
    ),
]
FallbackOption = Annotated[
    Fallback | None,
    typer.Option(
        "--fallback",
        help="A model that fails: the playbook writes that part, or the run stops, resumable. [default: playbook]",
    ),
]
ImagesOption = Annotated[
    bool, typer.Option("--images", help="With --share values: send figures as pictures to a model that can see.")
]
PricesOption = Annotated[
    Path | None, typer.Option("--prices", help="A price table of your own for --budget-cost.", metavar="FILE")
]
PromptsOption = Annotated[
    Path | None, typer.Option("--prompts", help="A folder with prompts of your own in place of ours.", metavar="DIR")
]
BudgetTokensOption = Annotated[
    int | None, typer.Option("--budget-tokens", min=0, help="Tokens models may take in all; 0: no limit.")
]
BudgetCostOption = Annotated[
    float | None, typer.Option("--budget-cost", min=0, help="US dollars models may cost in all; 0: no limit.")
]
BudgetSecondsOption = Annotated[
    float | None, typer.Option("--budget-seconds", min=0, help="Seconds models may be waited for; 0: no limit.")
]
BudgetCallsOption = Annotated[
    int | None, typer.Option("--budget-calls", min=0, help="How often models may be asked; 0: no limit.")
]


def say_models(files: ChoiceFiles, view: View, words: Words) -> None:
    """Say which models will be asked, where, and what they may be told: before anything is."""
    choice = files.choice
    view.fact(
        "models",
        names=[str(one) for one in choice.names],
        endpoints=sorted({one.address for one in choice.names}),
        local=all(one.is_local for one in choice.names),
        share=choice.share,
        fallback=choice.fallback,
        images=choice.images,
    )
    for line, tone in model_lines(files, words):
        view.say(line, tone=tone)
