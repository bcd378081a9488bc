"""JSON Schema of every message, made from the models: what is read, with the old spellings marked as deprecated.

A null at an optional field is read as absent and numbers in text are read as numbers; the schemas describe the proper
form and leave that tolerance out. Names are read in any case where the schema lists lower and upper case.
"""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import DEFAULT_REF_TEMPLATE, GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from notebook_bcc.protocol.actions import BUILTIN_ACTIONS, OLD_SHOT_TYPES, Action, ActionBase, CustomAction
from notebook_bcc.protocol.deliverables import Deliverable, RunAnswer
from notebook_bcc.protocol.message import Message
from notebook_bcc.protocol.messages import (
    ActionLine,
    ActionResult,
    BehaviorFeedback,
    ContextFilter,
    ContextUpdate,
    GeneratingResponse,
    Options,
    PlanningResponse,
    RepairWanted,
    Request,
)
from notebook_bcc.protocol.observation import Observation, TransitionRecord
from notebook_bcc.protocol.progress import WorkProgress
from notebook_bcc.protocol.tracking import Artifact, CompletedItem, OutputTracking
from notebook_bcc.protocol.vocabulary import CaseFree, ShotType
from notebook_bcc.protocol.workflow import Workflow

DIALECT = "https://json-schema.org/draft/2020-12/schema"

MESSAGES: tuple[type[Message], ...] = (
    Request,
    Observation,
    BehaviorFeedback,
    Options,
    RepairWanted,
    PlanningResponse,
    ContextUpdate,
    ContextFilter,
    GeneratingResponse,
    ActionLine,
    ActionResult,
    Workflow,
    Deliverable,
    RunAnswer,
    OutputTracking,
    Artifact,
    CompletedItem,
    TransitionRecord,
    *BUILTIN_ACTIONS.values(),
    CustomAction,
    WorkProgress,
)


def message_schemas() -> dict[str, JsonSchemaValue]:
    """Name of the message -> its schema, each complete in itself. `Action` is any of the actions."""
    schemas = {model.__name__: model.model_json_schema(schema_generator=_Generator) for model in MESSAGES}
    schemas["Action"] = TypeAdapter[Any](Action).json_schema(schema_generator=_Generator) | {"title": "Action"}
    for name, path in (("ActionLine", "action"), ("GeneratingResponse", "actions")):
        schemas[name] = _with_actions(schemas[name], path, schemas["Action"])
    return {name: {"$schema": DIALECT, **schemas[name]} for name in sorted(schemas)}


def _with_actions(schema: JsonSchemaValue, field: str, action: JsonSchemaValue) -> JsonSchemaValue:
    """The schema with its opaque actions described. The reader takes them one by one, so that one may be bad."""
    definitions = schema.get("$defs", {}) | action["$defs"]
    definitions["Action"] = {key: value for key, value in action.items() if key != "$defs"}
    described = schema["properties"][field]
    reference = {"$ref": DEFAULT_REF_TEMPLATE.format(model="Action")}
    if described.get("type") == "array":
        described = {**described, "items": reference}
    else:
        described = {"title": described["title"], **reference}
    properties = {**schema["properties"], field: described}
    return {**schema, "properties": properties, "$defs": dict(sorted(definitions.items()))}


class _Generator(GenerateJsonSchema):
    """Adds what pydantic cannot know: other spellings, other cases, other forms."""

    def enum_schema(self, schema: core_schema.EnumSchema) -> JsonSchemaValue:
        made = super().enum_schema(schema)
        if issubclass(schema["cls"], CaseFree):
            names = [member.value for member in schema["cls"]]
            others = [name.upper() if name.islower() else name.lower() for name in names]
            if schema["cls"] is ShotType:
                others += OLD_SHOT_TYPES
            made["enum"] = names + others
            made["$comment"] = f"Written as {', '.join(names)}; read in any case."
        return made

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        made = super().model_schema(schema)
        model = schema["cls"]
        if issubclass(model, Message):
            _add_spellings(made, model)
        if issubclass(model, ActionBase):
            _name_the_kind(made, model)
        if model is CompletedItem:
            bare_id = {"type": "string", "description": "The bare id, as older peers send it."}
            return {"title": model.__name__, "anyOf": [made, bare_id]}
        if model is Deliverable:
            return {"title": model.__name__, "anyOf": [made, {"type": "string", "description": "The bare name."}]}
        return made


def _add_spellings(made: JsonSchemaValue, model: type[Message]) -> None:
    required: list[str] = made.get("required", [])
    for canonical, *others in model.spellings.values():
        for other in others:
            note = {"deprecated": True, "description": f"Old spelling of {canonical}."}
            made["properties"][other] = {**made["properties"][canonical], **note}
        if others and canonical in required:
            required.remove(canonical)
            choice = {"anyOf": [{"required": [name]} for name in (canonical, *others)]}
            made.setdefault("allOf", []).append(choice)
    if not required:
        made.pop("required", None)


def _name_the_kind(made: JsonSchemaValue, model: type[ActionBase]) -> None:
    """An action says its kind in `action`; only where that is absent, `type` is read instead."""
    kind = made["properties"]["action"]
    if model is CustomAction:
        kind["not"] = {"enum": list(BUILTIN_ACTIONS)}
    else:
        kind.pop("default", None)
    if "action" in made.get("required", []):
        made["required"].remove("action")
    old = {"required": ["type"], "not": {"required": ["action"]}, "properties": {"type": kind}}
    made.setdefault("allOf", []).append({"anyOf": [{"required": ["action"]}, old]})
