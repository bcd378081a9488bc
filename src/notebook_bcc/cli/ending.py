"""What is said when a run has stopped: what there is now, where it lies, how to go on, and the exit code."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from notebook_bcc.api.run_names import typed
from notebook_bcc.cli.codes import Exit, exit_of_stop
from notebook_bcc.cli.console import option_lines
from notebook_bcc.cli.view.plain import View
from notebook_bcc.engine.state import RunState
from notebook_bcc.journal.records import INPUTS
from notebook_bcc.lifecycle.deliverables import DeliveredFile, read_summary
from notebook_bcc.lifecycle.folder import RunFolder
from notebook_bcc.lifecycle.saver import models_used
from notebook_bcc.lifecycle.session import Delivery
from notebook_bcc.lifecycle.verify import Verification
from notebook_bcc.lifecycle.whole_values import read_answer
from notebook_bcc.notebook.export.report import file_size
from notebook_bcc.protocol.messages import Question
from notebook_bcc.protocol.summary import Summary
from notebook_bcc.views.answers import answer_lines
from notebook_bcc.views.headline import headline
from notebook_bcc.views.narration import cost_of, one_line, safe
from notebook_bcc.views.overview import question_facts, result_facts
from notebook_bcc.views.words import Words

_DIFFERENCES_SHOWN = 10
_FILES_SHOWN = 25
_OPTIONS_SHOWN = 20


def report(state: RunState, delivery: Delivery, *, folder: RunFolder, view: View, words: Words) -> Exit:
    """Say what there is now, how good it is and how to go on; the exit code that goes with it."""
    stopped, run_id, run = state.stopped, folder.run_id, typed(folder)
    reason = stopped.reason if stopped is not None else "interrupted"
    summary = read_summary(folder) if reason == "completed" else None
    view.fact("run_ended", **_ended(state, delivery, run_id=run_id, reason=reason, summary=summary))
    answer = read_answer(folder) if reason == "completed" else None
    for line in answer_lines(answer) if answer is not None else ():
        view.say(line, tone="good")
    _say_where(state, delivery, view, words)
    if state.spent.calls:
        view.say(_models_line(state, words))
    if delivery.left_out:
        view.say(words("left_out", count=delivery.left_out, run=run))
    if reason == "waiting" and state.question is not None:
        _say_question(state.question, run, view, words)
    elif reason == "waiting":
        view.say(words("answer_with", command=f"nbcc confirm {run} --resume"))
    elif reason == "cancelled":
        view.say(words("start_over", command=f"nbcc resume {run} --restart reset"))
    elif reason != "completed":
        view.say(words("go_on", command=f"nbcc resume {run}"))
    if summary is not None:
        view.say(words("result", headline=headline(summary, words)))
    if delivery.skipped:
        view.say(words("verification_skipped", command=f"nbcc verify {run}"), tone="warning")
    if delivery.unverified:
        view.fact("not_verified", reason=delivery.unverified)
        view.say(words("unverified", why=delivery.unverified), tone="error")
    same = delivery.verification is None or report_verification(delivery.verification, view, words)
    if stopped is not None and stopped.answered == "no":
        view.say(words("not_answered", why=_why_unanswered(state) or stopped.detail), tone="error")
        return Exit.UNANSWERED
    if stopped is not None and stopped.answered == "yes" and delivery.verification is None and not delivery.unverified:
        view.say(words("answered_unverified", command=f"nbcc verify {run}"))
    return exit_of_stop(reason) if same and not delivery.unverified else Exit.UNVERIFIED


def _why_unanswered(state: RunState) -> str:
    """What the notebook itself says in short about having no answer."""
    abstract = sorted(
        (cell for cell in state.document.cells if cell.is_abstract), key=lambda cell: cell.abstract_part != ""
    )
    said = [line for cell in abstract for line in cell.source.splitlines()]
    return one_line(next((line for line in said if line.strip()), "").replace("*", "").replace("`", ""))


def _ended(state: RunState, delivery: Delivery, *, run_id: str, reason: str, summary: Summary | None) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "run_id": run_id,
        "reason": reason,
        "detail": state.stopped.detail if state.stopped is not None else "",
        "answered": state.stopped.answered if state.stopped is not None else "unknown",
        "notebook": str(delivery.notebook or ""),
        **({"server_copy": delivery.server_copy} if delivery.server_copy else {}),
        "html": str(delivery.html or ""),
        "report": str(delivery.report or ""),
        "files": [{"name": one.name, "path": str(one.path), "size": one.size} for one in delivery.files],
        **({"models": models_used(state)} if state.spent.calls else {}),
        **({"result": result_facts(summary)} if summary is not None else {}),
    }
    return facts | question_facts(state)


def _models_line(state: RunState, words: Words) -> str:
    spent = state.spent
    return words(
        "models_spent",
        calls=spent.calls,
        tokens=f"{spent.tokens:,}",
        cost=cost_of(spent, words),
        seconds=words.seconds(spent.seconds),
    )


def _say_where(state: RunState, delivery: Delivery, view: View, words: Words) -> None:
    """Where the notebook, its pages and the run's files are."""
    if delivery.notebook is not None:
        view.say(words("notebook", path=short_path(delivery.notebook)))
    if delivery.server_copy:
        view.say(words("server_copy", place=safe(delivery.server_copy)))
    # Whoever brought data wants the report; whoever wrote a script also the page with all of its code.
    if delivery.html is not None and INPUTS not in state.planner_context.variables:
        view.say(words("page", path=short_path(delivery.html)))
    if delivery.report is not None:
        view.say(words("report", path=short_path(delivery.report)))
    if delivery.files and delivery.report is not None:
        view.say(words("files_in", path=f"{short_path(delivery.report.parent)}/"))
    for line in file_lines(delivery.files, words):
        view.say(line)


def file_lines(files: Sequence[DeliveredFile], words: Words) -> list[str]:
    """What a run has made, a line each, with sizes."""
    lines = [words("file", size=file_size(one.size), name=safe(one.name)) for one in files[:_FILES_SHOWN]]
    return lines + ([words("more_files", count=len(files) - _FILES_SHOWN)] if len(files) > _FILES_SHOWN else [])


def _say_question(question: Question, run: str, view: View, words: Words) -> None:
    view.say(words("question", text=one_line(question.text)))
    for line in option_lines(question, words, limit=_OPTIONS_SHOWN):
        view.say(line)
    example = shlex.quote(f"{question.input}={safe(question.options[0]) if question.options else '...'}")
    view.say(words("answer_with", command=f"nbcc resume {run} --set {example}"))


def short_path(path: Path) -> Path:
    """The path as somebody in this folder would type it."""
    here = Path.cwd().resolve()
    return path.relative_to(here) if path.is_relative_to(here) else path


def report_verification(result: Verification, view: View, words: Words) -> bool:
    """Say whether the notebook gave the same results again, and which cells did not."""
    view.fact("verified", **result.stamp())
    if result.ok:
        view.say(words("verified", cells=result.cells), tone="good")
        return True
    view.say(words("not_verified", count=len(result.differences)), tone="error")
    for one in result.differences[:_DIFFERENCES_SHOWN]:
        view.say("  " + words("difference", cell=one.cell or one.cell_id, what=one.what), tone="error")
    if len(result.differences) > _DIFFERENCES_SHOWN:
        view.say("  " + words("more", count=len(result.differences) - _DIFFERENCES_SHOWN), tone="error")
    return False
