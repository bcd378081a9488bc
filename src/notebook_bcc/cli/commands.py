"""`nbcc pause`, `cancel`, `confirm`, `reject`: what one process may ask of the one that carries a run out."""

from __future__ import annotations

from typing import Annotated

import typer

from notebook_bcc.api.run_names import typed
from notebook_bcc.cli.codes import Exit
from notebook_bcc.cli.console import show_diff, user_name
from notebook_bcc.cli.options.run import LangOption, RunArgument, RunsOption, settings_of
from notebook_bcc.cli.resume import go_on
from notebook_bcc.lifecycle.folder import find_run
from notebook_bcc.lifecycle.history import load_state
from notebook_bcc.lifecycle.operations import answer_run, cancel_run, pause_run
from notebook_bcc.lifecycle.order import ResumeOrder
from notebook_bcc.settings import Settings
from notebook_bcc.views.overview import change_lines
from notebook_bcc.wiring import journals, run_factories

CommentOption = Annotated[str, typer.Option("--comment", "-m", help="Why; it is kept in the journal.")]
AnswersOption = Annotated[
    int,
    typer.Option(
        "--answers", min=0, help="The number of the change, as `nbcc status` shows it: no other one is answered."
    ),
]
ResumeOption = Annotated[
    bool, typer.Option("--resume", help="If nobody carries the run out, go on with it here and now.")
]


async def pause_command(run: RunArgument, comment: CommentOption = "", runs: RunsOption = None) -> None:
    """Let a run stop after its current action. It can be resumed."""
    folder = find_run(settings_of(runs=runs).runs, run)
    await pause_run(folder, comment=comment, factories=run_factories())
    print(f"run {folder.run_id} stops after its current action; go on with: nbcc resume {typed(folder)}")


async def cancel_command(run: RunArgument, comment: CommentOption = "", runs: RunsOption = None) -> None:
    """Cancel a run: the running cell is interrupted. What was done stays; only a reset brings the run back."""
    settings = settings_of(runs=runs)
    folder = find_run(settings.runs, run)
    outcome = await cancel_run(folder, comment=comment, factories=run_factories(settings))
    print(f"run {folder.run_id} is {'cancelled' if outcome == 'done' else 'being cancelled'}")


async def confirm_command(
    run: RunArgument,
    comment: CommentOption = "",
    answers: AnswersOption = 0,
    resume: ResumeOption = False,
    runs: RunsOption = None,
    lang: LangOption = None,
) -> int:
    """Accept the change of the plan that a run waits with. The planner hears the comment."""
    settings = settings_of(runs=runs, lang=lang)
    return await _answer(run, settings, confirmed=True, comment=comment, answers=answers, resume=resume)


async def reject_command(
    run: RunArgument,
    comment: CommentOption = "",
    answers: AnswersOption = 0,
    resume: ResumeOption = False,
    runs: RunsOption = None,
    lang: LangOption = None,
) -> int:
    """Decline the change of the plan that a run waits with. The planner hears the comment."""
    settings = settings_of(runs=runs, lang=lang)
    return await _answer(run, settings, confirmed=False, comment=comment, answers=answers, resume=resume)


async def _answer(run: str, settings: Settings, *, confirmed: bool, comment: str, answers: int, resume: bool) -> Exit:
    folder = find_run(settings.runs, run)
    state = await load_state(folder, journals())
    outcome = await answer_run(
        folder,
        confirmed=confirmed,
        comment=comment,
        by=user_name(),
        # What is shown below is what is answered, also where the run goes on meanwhile.
        answers=answers or (state.machine.entered if change_lines(state) else 0),
        factories=run_factories(),
    )
    show_diff("\n".join(change_lines(state)))
    word = "accepted" if confirmed else "declined"
    if outcome == "asked":
        print(f"the change of the plan of run {folder.run_id} is {word}")
        return Exit.COMPLETED
    if resume:
        return await go_on(folder, ResumeOrder(), settings=settings)
    print(f"the change of the plan is {word}; nobody carries the run out. Go on with: nbcc resume {typed(folder)}")
    return Exit.COMPLETED
