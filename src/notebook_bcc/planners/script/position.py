"""Where in a step's script a run is, told from a request alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from notebook_bcc.planners.script.values import StepScript
from notebook_bcc.protocol.messages import PlanningResponse, Request
from notebook_bcc.protocol.tracking import CompletedItem

# What a client that does not give our names back is told beside its variables: the place of the behavior that begins.
PLACE_VARIABLE = "behavior_place"
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")


@dataclass(frozen=True, slots=True)
class Place:
    """At a behavior, or at what follows its failure. An index past the last behavior: all is done."""

    index: int = 0
    recovering: bool = False


def place_name(place: Place, step_id: str) -> str:
    """What the behavior at this place is called."""
    return f"{step_id}.{place.index + 1}.recovery" if place.recovering else f"{step_id}.{place.index + 1}"


def _named(step: StepScript, request: Request, name: str | None) -> Place | None:
    """The place that has this name, if the script gave it."""
    step_id = request.observation.location.current.step_id or ""
    if name is None or not name.startswith(f"{step_id}."):
        return None
    number, _, rest = name.removeprefix(f"{step_id}.").partition(".")
    if not _NUMBER.fullmatch(number) or rest not in ("", "recovery") or int(number) > len(step.behaviors):
        return None
    return Place(int(number) - 1, recovering=rest == "recovery")


def with_place(response: PlanningResponse, place: Place, step: StepScript, request: Request) -> PlanningResponse:
    """The answer that begins a behavior, with its place for a client that counts behaviors by itself.

    Such a client is known by the behavior that has just ended: it does not have the name that we gave it.
    """
    current = request.observation.location.current
    if request.behavior_feedback is None or _echoed(step, request) is not None:
        return response
    noted = {"step_id": current.step_id, "name": place_name(place, current.step_id or "")}
    update = response.context_update
    update = update.model_copy(update={"variables": {**update.variables, PLACE_VARIABLE: noted}})
    wanted = response.context_filter
    if wanted is not None and wanted.variables_to_include is not None:
        wanted = wanted.model_copy(update={"variables_to_include": (*wanted.variables_to_include, PLACE_VARIABLE)})
    return response.model_copy(update={"context_update": update, "context_filter": wanted})


def known_place(step: StepScript, request: Request) -> Place | None:
    """The place that the request names: by our name of the behavior, or by what we told about it."""
    current = request.observation.location.current
    if (echoed := _echoed(step, request)) is not None:
        return echoed
    noted = request.observation.context.variables.get(PLACE_VARIABLE)
    if not isinstance(noted, dict) or noted.get("step_id") != current.step_id:
        return None
    name = noted.get("name")
    # Of the first behavior of a step nothing was told: what is there is from another time in this step.
    return _named(step, request, name) if current.behavior_iteration != 1 and isinstance(name, str) else None


def _echoed(step: StepScript, request: Request) -> Place | None:
    feedback, current = request.behavior_feedback, request.observation.location.current
    ended = feedback.behavior_id if feedback is not None else None
    return _named(step, request, ended) or _named(step, request, current.behavior_id)


def running_place(step: StepScript, request: Request) -> Place:
    """Where the behavior is that is asked for, or that the feedback is about."""
    location, feedback = request.observation.location, request.behavior_feedback
    ended = feedback.behavior_id if feedback is not None else None
    known = known_place(step, request)
    if known is not None:
        return known
    level = location.progress.behaviors
    if level is None or not level.completed:
        place = Place(max(0, location.current.behavior_iteration - 1))
    else:
        completed = level.completed
        # The client may or may not count the behavior that has just ended among the completed ones.
        if feedback is not None and completed and completed[-1].key == (ended or completed[-1].key):
            completed = completed[:-1]
        place = follow(step, request, completed)
    # A behavior that is restarted when all are done is the last one.
    return place if place.index < len(step.behaviors) else Place(len(step.behaviors) - 1)


def follow(step: StepScript, request: Request, completed: Sequence[CompletedItem]) -> Place:
    """Follow the completed behaviors through the script to the next place."""
    place = Place()
    for item in completed:
        place = _named(step, request, item.key) or place
        if place.index >= len(step.behaviors):
            break
        place = place_after(step, place, failed=item.achieved is False or bool(item.missing_outputs))
    return place


def place_after(step: StepScript, place: Place, *, failed: bool) -> Place:
    """What comes after a behavior; the same place when it failed and there is nothing else to try."""
    if not failed or step.accept_errors:
        return Place(place.index + 1)
    if step.behaviors[place.index].on_error:
        return Place(place.index, recovering=True)
    return place


def tries(place: Place, request: Request) -> int:
    """How many times this behavior was begun, as far as the observation tells."""
    location = request.observation.location
    completed = len(location.progress.behaviors.completed) if location.progress.behaviors is not None else 0
    return max(1, location.current.behavior_iteration - (completed or place.index))
