"""The transition table: every row there is, as data. Code, documents, diagrams and tests are made from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from notebook_bcc.protocol.vocabulary import Event as E
from notebook_bcc.protocol.vocabulary import Owner as O
from notebook_bcc.protocol.vocabulary import State as S


class Group(StrEnum):
    """The four tables of the protocol, in its order."""

    CORE = "core"
    DYNAMIC_UPDATE = "dynamic update"
    ERROR_AND_CANCEL = "error and cancel"
    RECOVERY = "recovery"


@dataclass(frozen=True, slots=True)
class Row:
    """From `state`, `event` leads to `next_state`; `owner` is responsible.

    `endpoint_or_note` is the endpoint whose answer decides a core row (empty: none is called); elsewhere, the reason.
    """

    state: S
    event: E
    next_state: S
    owner: O
    endpoint_or_note: str = ""


TABLE: Final[Mapping[Group, tuple[Row, ...]]] = MappingProxyType(
    {
        Group.CORE: (
            Row(S.IDLE, E.START_WORKFLOW, S.STAGE_RUNNING, O.PLANNING, "/planning"),
            Row(S.STAGE_RUNNING, E.START_STEP, S.STEP_RUNNING, O.PLANNING, "/planning"),
            Row(S.STAGE_RUNNING, E.COMPLETE_STAGE, S.STAGE_COMPLETED, O.PLANNING, "/planning"),
            Row(S.STEP_RUNNING, E.START_BEHAVIOR, S.BEHAVIOR_RUNNING, O.PLANNING, "/planning"),
            Row(S.STEP_RUNNING, E.COMPLETE_STEP, S.STEP_COMPLETED, O.PLANNING, "/planning"),
            Row(S.BEHAVIOR_RUNNING, E.START_ACTION, S.ACTION_RUNNING, O.GENERATING, "/generating"),
            Row(S.BEHAVIOR_RUNNING, E.COMPLETE_BEHAVIOR, S.BEHAVIOR_COMPLETED, O.PLANNING, "/planning"),
            Row(S.ACTION_RUNNING, E.COMPLETE_ACTION, S.ACTION_COMPLETED, O.CLIENT),
            Row(S.ACTION_COMPLETED, E.NEXT_ACTION, S.ACTION_RUNNING, O.CLIENT),
            Row(S.ACTION_COMPLETED, E.COMPLETE_BEHAVIOR, S.BEHAVIOR_COMPLETED, O.PLANNING, "/planning"),
            Row(S.BEHAVIOR_COMPLETED, E.NEXT_BEHAVIOR, S.BEHAVIOR_RUNNING, O.PLANNING, "/planning"),
            Row(S.BEHAVIOR_COMPLETED, E.COMPLETE_STEP, S.STEP_COMPLETED, O.PLANNING, "/planning"),
            Row(S.STEP_COMPLETED, E.NEXT_STEP, S.STEP_RUNNING, O.CLIENT),
            Row(S.STEP_COMPLETED, E.COMPLETE_STAGE, S.STAGE_COMPLETED, O.PLANNING, "/planning"),
            Row(S.STAGE_COMPLETED, E.NEXT_STAGE, S.STAGE_RUNNING, O.CLIENT),
            Row(S.STAGE_COMPLETED, E.COMPLETE_WORKFLOW, S.WORKFLOW_COMPLETED, O.PLANNING, "/planning"),
            Row(S.WORKFLOW_COMPLETED, E.RESET, S.IDLE, O.CLIENT),
        ),
        Group.DYNAMIC_UPDATE: (
            Row(S.ACTION_RUNNING, E.UPDATE_WORKFLOW, S.WORKFLOW_UPDATE_PENDING, O.PLANNING, "a new plan is proposed"),
            Row(S.ACTION_RUNNING, E.UPDATE_STEP, S.STEP_UPDATE_PENDING, O.PLANNING, "new steps are proposed"),
            Row(S.WORKFLOW_UPDATE_PENDING, E.UPDATE_WORKFLOW_CONFIRMED, S.ACTION_COMPLETED, O.CLIENT, "plan accepted"),
            Row(S.WORKFLOW_UPDATE_PENDING, E.UPDATE_WORKFLOW_REJECTED, S.ACTION_COMPLETED, O.CLIENT, "plan declined"),
            Row(S.WORKFLOW_UPDATE_PENDING, E.COMPLETE_ACTION, S.WORKFLOW_UPDATE_PENDING, O.CLIENT, "the wait goes on"),
            Row(S.STEP_UPDATE_PENDING, E.UPDATE_STEP_CONFIRMED, S.ACTION_COMPLETED, O.CLIENT, "steps accepted"),
            Row(S.STEP_UPDATE_PENDING, E.UPDATE_STEP_REJECTED, S.ERROR, O.CLIENT, "steps declined"),
        ),
        Group.ERROR_AND_CANCEL: (
            Row(S.STAGE_RUNNING, E.FAIL, S.ERROR, O.CLIENT, "the stage failed"),
            Row(S.STAGE_RUNNING, E.CANCEL, S.CANCELLED, O.CLIENT, "cancelled in a stage"),
            Row(S.STEP_RUNNING, E.FAIL, S.ERROR, O.CLIENT, "the step failed"),
            Row(S.STEP_RUNNING, E.CANCEL, S.CANCELLED, O.CLIENT, "cancelled in a step"),
            Row(S.BEHAVIOR_RUNNING, E.FAIL, S.ERROR, O.CLIENT, "the behavior failed"),
            Row(S.BEHAVIOR_RUNNING, E.CANCEL, S.CANCELLED, O.CLIENT, "cancelled in a behavior"),
            Row(S.ACTION_RUNNING, E.FAIL, S.ERROR, O.CLIENT, "the action failed"),
            Row(S.ACTION_RUNNING, E.CANCEL, S.CANCELLED, O.CLIENT, "cancelled in an action"),
            Row(S.ACTION_COMPLETED, E.FAIL, S.ERROR, O.CLIENT, "the action's result did not hold"),
            Row(S.ACTION_COMPLETED, E.CANCEL, S.CANCELLED, O.CLIENT, "cancelled after an action"),
            Row(S.BEHAVIOR_COMPLETED, E.FAIL, S.ERROR, O.CLIENT, "the behavior's result did not hold"),
            Row(S.BEHAVIOR_COMPLETED, E.CANCEL, S.CANCELLED, O.CLIENT, "cancelled after a behavior"),
            Row(S.STEP_COMPLETED, E.FAIL, S.ERROR, O.CLIENT, "the step's result did not hold"),
            Row(S.STEP_COMPLETED, E.CANCEL, S.CANCELLED, O.CLIENT, "cancelled after a step"),
            Row(S.STAGE_COMPLETED, E.CANCEL, S.CANCELLED, O.CLIENT, "cancelled after a stage"),
            Row(S.WORKFLOW_UPDATE_PENDING, E.CANCEL, S.CANCELLED, O.CLIENT, "cancelled while a plan waits"),
            Row(S.STEP_UPDATE_PENDING, E.CANCEL, S.CANCELLED, O.CLIENT, "cancelled while new steps wait"),
        ),
        Group.RECOVERY: (
            Row(S.ERROR, E.RESET, S.IDLE, O.CLIENT, "start over from nothing"),
            Row(S.ERROR, E.START_WORKFLOW, S.STAGE_RUNNING, O.CLIENT, "restart the workflow"),
            Row(S.ERROR, E.START_BEHAVIOR, S.BEHAVIOR_RUNNING, O.CLIENT, "restart the behavior"),
            Row(S.CANCELLED, E.RESET, S.IDLE, O.CLIENT, "start over from nothing"),
        ),
    }
)

ROWS: Final[tuple[Row, ...]] = tuple(row for rows in TABLE.values() for row in rows)

# Keyed by text, which the enum members are: a state or event in its written form is found without a conversion.
ROW_OF: Final[Mapping[tuple[str, str], Row]] = MappingProxyType({(row.state, row.event): row for row in ROWS})
