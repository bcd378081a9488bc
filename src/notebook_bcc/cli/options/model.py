"""The options of a run that a language model plans, and what is said about the models at its start."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from notebook_bcc.cli.options.run import given
from notebook_bcc.errors import SettingsInvalid
from notebook_bcc.llm.choice import ChoiceFiles, LlmChoice
from notebook_bcc.llm.limits import Fallback, Share
from notebook_bcc.views.words import Words
from notebook_bcc.wiring import LLM_PLANNER

if TYPE_CHECKING:
    from notebook_bcc.cli.view.plain import View

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

_SHARED: Final[Mapping[Share, str]] = {"values": "share_values", "schema": "share_schema", "none": "share_none"}


def budgets_given(
    tokens: int | None, cost: float | None, seconds: float | None, calls: int | None
) -> dict[str, Any]:  # Any: numbers
    """The limits of what models may take that were given."""
    return given(model_tokens=tokens, model_dollars=cost, model_seconds=seconds, model_calls=calls)


def chosen_models(
    planner: str,
    *,
    model: str,
    planning_model: str,
    share: Share | None,
    fallback: Fallback | None,
    prices: Path | None,
    prompts: Path | None,
    budgets: dict[str, Any],  # Any: numbers
    images: bool = False,
) -> ChoiceFiles | None:
    """What was said about models; None for a run without. Raises SettingsInvalid."""
    said = {
        "--model": model,
        "--planning-model": planning_model,
        "--share": share,
        "--fallback": fallback,
        "--images": images,
        "--prices": prices,
        "--prompts": prompts,
        "--budget-...": budgets,
    }
    if planner != LLM_PLANNER:
        stray = next((option for option, value in said.items() if value), None)
        if stray is not None:
            raise SettingsInvalid(f"{stray} is for a run that a language model plans: give --planner llm as well")
        return None
    if not model:
        raise SettingsInvalid("--planner llm needs --model: openai:NAME, anthropic:NAME, or URL#NAME of an endpoint")
    if images and share != "values":
        raise SettingsInvalid("--images sends figures, which show values of the data: give --share values as well")
    choice = LlmChoice(
        model=model,
        planning_model=planning_model,
        share=share or "schema",
        fallback=fallback or "playbook",
        images=images,
    )
    return ChoiceFiles(choice=choice, prices=prices, prompts=prompts)


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
    for model in choice.names:
        key = "model_local" if model.is_local else "model_away"
        view.say(words(key, model=model, address=model.address), tone="info" if model.is_local else "warning")
    view.say(words(_SHARED[choice.share]))
