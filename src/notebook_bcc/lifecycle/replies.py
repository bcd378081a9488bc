"""Which question of a planner a person's answer belongs to: a second or late answer is refused."""

from __future__ import annotations

from notebook_bcc.engine.state import Reply, RunState
from notebook_bcc.errors import RunRefused
from notebook_bcc.lifecycle.order import ResumeOrder


def answered_question(state: RunState, order: ResumeOrder) -> int:
    """The number of the question that these inputs answer; zero where none of them does.

    Raises RunRefused, saying who was first, when the question was answered before, or another one than the named one
    waits. A restart is no answer: it may begin anew with other inputs.
    """
    waits = state.judged if state.question is not None else 0
    if order.answers and order.answers != waits:
        raise RunRefused(_not_waiting(state, order.answers, waits))
    if state.question is not None and state.question.input in order.inputs:
        return waits
    if order.answers:
        needed = state.question.input if state.question is not None else ""
        raise RunRefused(f"question {waits} of run {state.run_id!r} asks for {needed!r}, and no answer to it is given")
    late = next((state.replies[name] for name in order.inputs if name in state.replies), None)
    if late is not None and order.restart == "behavior":
        raise RunRefused(f"{_answered(state, late)}; another answer needs a new run, or --restart reset")
    return 0


def _not_waiting(state: RunState, number: int, waits: int) -> str:
    first = next((reply for reply in state.replies.values() if reply.answers == number), None)
    if first is not None:
        return _answered(state, first)
    return f"question {number} of run {state.run_id!r} does not wait, " + (f"but {waits}" if waits else "nor any other")


def _answered(state: RunState, reply: Reply) -> str:
    who = reply.who or "a person at the terminal"
    said = f"with {reply.value!r} by {who} at {reply.at}"
    return f"question {reply.answers} of run {state.run_id!r} was answered already, {said}"
