"""G7: read and check a full observation, and write one, beside plain pydantic and the standard library's json."""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from benchmarks.harness import Bench, Contender, Figures, Row, compare, cpu_microseconds, interleave, room_missing
from benchmarks.observation import full_request

DECODE_LIMIT = 1.0
ENCODE_LIMIT = 0.5
OURS = "ours"
TYPED = "pydantic, cells typed"
SAME_DEPTH = "pydantic, same depth"
STDLIB = "json"


class Plain(BaseModel):
    """What one writes without our promises: one spelling, unknown fields dropped."""

    model_config = ConfigDict(extra="ignore")


class PlainOutputs(Plain):
    expected: list[str]
    produced: list[str]
    in_progress: list[str]


class PlainArtifact(Plain):
    artifact_id: str
    variable_name: str
    description: str
    created_at: str


class PlainProduced(Plain):
    variables: list[str]
    artifacts: list[PlainArtifact]
    key_findings: list[str]


class PlainCompleted(Plain):
    goal: str
    actions_taken: list[str]
    outputs_produced: PlainProduced
    stage_id: str | None = None
    step_id: str | None = None
    behavior_id: str | None = None


class PlainLevel(Plain):
    completed: list[PlainCompleted]
    current: str
    iteration: int
    remaining: list[str]
    focus: str
    current_outputs: PlainOutputs


class PlainProgress(Plain):
    stages: PlainLevel
    steps: PlainLevel
    behaviors: PlainLevel


class PlainCurrent(Plain):
    stage_id: str
    step_id: str
    behavior_id: str
    behavior_iteration: int


class PlainGoals(Plain):
    stage: str
    step: str
    behavior: str


class PlainLocation(Plain):
    current: PlainCurrent
    progress: PlainProgress
    goals: PlainGoals


class PlainEffects(Plain):
    current: list[str]
    history: list[str]


class PlainOutput(Plain):
    output_type: str
    name: str | None = None
    text: str | None = None
    data: dict[str, Any] | None = None


class PlainCell(Plain):
    id: str
    cell_type: str
    metadata: dict[str, Any]
    source: str
    outputs: list[PlainOutput]
    execution_count: int | None


class PlainMove(Plain):
    source: str = Field(alias="from")  # `from` cannot be a field's name: the one alias plain models need too
    event: str
    to: str
    timestamp: str


class TypedNotebook(Plain):
    title: str
    cell_count: int
    last_cell_type: str
    last_output: str
    cells: list[PlainCell]


class TypedFsm(Plain):
    state: str
    last_transition: str
    timestamp: str
    history: list[PlainMove]


class TypedContext(Plain):
    variables: dict[str, Any]
    effects: PlainEffects
    notebook: TypedNotebook
    FSM: TypedFsm


class OpenNotebook(Plain):
    title: str
    cell_count: int
    last_cell_type: str
    last_output: str
    cells: list[dict[str, Any]]


class OpenFsm(Plain):
    state: str
    last_transition: str
    timestamp: str
    history: list[Any]


class OpenContext(Plain):
    variables: dict[str, Any]
    effects: PlainEffects
    notebook: OpenNotebook
    FSM: OpenFsm


class TypedObservation(Plain):
    location: PlainLocation
    context: TypedContext


class OpenObservation(Plain):
    location: PlainLocation
    context: OpenContext


class PlainOptions(Plain):
    stream: bool


class TypedRequest(Plain):
    """Every field of the document has a type, the notebook's cells included."""

    observation: TypedObservation
    options: PlainOptions


class OpenRequest(Plain):
    """As deep as our own models go: cells and moves are checked to be objects, and kept as they are."""

    observation: OpenObservation
    options: PlainOptions


def observation_codec(bench: Bench) -> list[Row]:
    missing = room_missing("notebook_bcc.protocol.messages")
    document = full_request()
    raw = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
    samples = interleave(
        [
            Contender(OURS, lambda: _ours(raw), missing),
            Contender(TYPED, lambda: {"decode": cpu_microseconds(lambda: TypedRequest.model_validate_json(raw))}),
            Contender(SAME_DEPTH, lambda: {"decode": cpu_microseconds(lambda: OpenRequest.model_validate_json(raw))}),
            Contender(STDLIB, lambda: _stdlib(document, raw)),
        ],
        rounds=max(bench.rounds, 5),
    )
    size = f"{len(raw) / 1000:.0f} KB"

    def row(what: str, figure: str, peer: str, limit: float | None, note: str = "") -> Row:
        ours = (OURS, figure)
        return compare(samples, gate="G7", what=what, ours=ours, peer=(peer, figure), unit="us", limit=limit, note=note)

    return [
        row(
            f"decode + validate an observation of {size} (CPU)",
            "decode",
            TYPED,
            DECODE_LIMIT,
            "the peer types every cell and drops unknown fields; ours keeps cells as objects, reads all spellings and "
            "keeps unknown fields",
        ),
        row("the same, the peer only as deep as our models", "decode", SAME_DEPTH, DECODE_LIMIT),
        row("the same, beside json.loads, which checks nothing", "decode", STDLIB, None),
        row(
            "encode it (CPU)", "encode", STDLIB, ENCODE_LIMIT, "ours from the checked model, the peer from a plain dict"
        ),
    ]


def _ours(raw: bytes) -> Figures:
    from notebook_bcc.protocol.messages import Request

    message = Request.parse(raw)
    if not _holds(json.loads(message.to_json()), json.loads(raw)):
        raise AssertionError("the observation did not survive the round trip")
    return {
        "decode": cpu_microseconds(lambda: Request.parse(raw)),
        "encode": cpu_microseconds(message.to_json),
    }


def _holds(back: Any, sent: Any) -> bool:  # Any: JSON
    """Whether everything that was sent is there, unchanged; defaults may have been added."""
    if isinstance(sent, dict):
        return isinstance(back, dict) and all(name in back and _holds(back[name], sent[name]) for name in sent)
    if isinstance(sent, list):
        return isinstance(back, list) and len(back) == len(sent) and all(map(_holds, back, sent))
    return bool(back == sent)


def _stdlib(document: dict[str, Any], raw: bytes) -> Figures:
    return {
        "encode": cpu_microseconds(lambda: json.dumps(document, ensure_ascii=False).encode()),
        "decode": cpu_microseconds(lambda: json.loads(raw)),
    }
