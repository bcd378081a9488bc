"""`nbcc replay`: a recorded run again, with the recorded answers and a real kernel; then the notebooks compared."""

from __future__ import annotations

from typing import Annotated

import typer

from notebook_bcc.cli.carry import ctrl_c, drawn
from notebook_bcc.cli.codes import Exit
from notebook_bcc.cli.ending import short_path
from notebook_bcc.cli.options.run import (
    JsonOption,
    LangOption,
    QuietOption,
    RunArgument,
    RunsOption,
    settings_of,
)
from notebook_bcc.cli.view.choice import choose_view
from notebook_bcc.cli.view.plain import View
from notebook_bcc.lifecycle.folder import RunFolder, find_run
from notebook_bcc.lifecycle.history import read_entries
from notebook_bcc.lifecycle.operations import started
from notebook_bcc.lifecycle.recording import (
    RecordedPerson,
    Recording,
    equal_notebooks,
    notebook_differences,
    read_recording,
)
from notebook_bcc.lifecycle.session import Interaction, Session
from notebook_bcc.views.words import Words
from notebook_bcc.wiring import journals, replay_order, run_factories

_SHOWN = 10


async def replay_command(
    run: RunArgument,
    name: Annotated[str, typer.Option("--name", help="A name for the new run.")] = "replay",
    runs: RunsOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    lang: LangOption = None,
) -> int:
    """Carry out a recorded run again: the planner's answers and a person's decisions come from the journal.

    The replay is a run of its own, in a new folder. At the end its notebook is compared with the recorded one: the same
    titles, cells, sources and outputs, apart from the metadata that name the run (run id, times, versions). Exit code
    0 when they are the same, 5 when not.
    """
    settings = settings_of(runs=runs, lang=lang)
    words = Words(settings.lang)
    source = find_run(settings.runs, run)
    recording = await read_recording(read_entries(source, journals()))
    order = replay_order(source, recording, name=name)
    view = choose_view(words, as_json=as_json, quiet=quiet)
    async with drawn(view):
        interaction = Interaction(
            person=RecordedPerson(recording.decisions), warn=lambda text: view.say(text, tone="warning")
        )
        async with started(
            order, root=settings.runs, factories=run_factories(settings), interaction=interaction
        ) as session:
            with ctrl_c(session, view, words):
                await _carry(session, recording, view)
            delivery = await session.deliver(verify=False)
            view.close()
            if delivery.notebook is not None:
                view.say(words("notebook", path=short_path(delivery.notebook)))
            return _compared(session, source, recording, view, words)


async def _carry(session: Session, recording: Recording, view: View) -> None:
    restarts = list(recording.restarts)
    while True:
        async for entry in session.entries():
            view.saw(entry, session.state)
            if _is_at_end(session, recording):
                session.pause()
        if not restarts or session.state.stopped is None or session.state.stopped.reason in ("completed", "paused"):
            return
        await session.begin(restarts.pop(0))


def _is_at_end(session: Session, recording: Recording) -> bool:
    """Whether the replay has done all that was recorded of a run that was paused, killed, left waiting, or at
    the end of its time or of what its models may take."""
    return recording.ends_open and session.state.actions_completed >= recording.state.actions_completed


def _compared(session: Session, source: RunFolder, recording: Recording, view: View, words: Words) -> Exit:
    before, after = recording.state.document, session.state.document
    found = notebook_differences(before, after, folders=(str(source.work), str(session.folder.work)))
    same = equal_notebooks(before, after)
    view.fact("replayed", run_id=session.folder.run_id, of=source.run_id, identical=same, differences=found)
    if not found:
        view.say(words("replay_identical" if same else "replay_same", cells=len(after.cells)), tone="good")
        return Exit.COMPLETED
    view.say(words("replay_differs", count=len(found)), tone="error")
    for what in found[:_SHOWN]:
        view.say(f"  {what}", tone="error")
    return Exit.UNVERIFIED
