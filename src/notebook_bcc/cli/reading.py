"""JSON files that a person names on the command line: requests, observations and answers."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from notebook_bcc.errors import MessageInvalid
from notebook_bcc.protocol.dialects import request_from_v1
from notebook_bcc.protocol.messages import PlanningResponse, Request

STDIN = "-"


def is_file(word: str) -> bool:
    """Whether the word names a file and not a run: `-`, or something that ends in .json."""
    return word == STDIN or Path(word).suffix == ".json"


def read_request(word: str) -> Request:
    """The request in a file: bare, as `nbcc planner observe --json` has it, or an observation alone.

    Raises MessageInvalid.
    """
    data = _read(word)
    if isinstance(data, dict):
        data = data.get("request", data)
    if isinstance(data, dict) and "location" in data and "observation" not in data:
        data = {"observation": data}
    try:
        return request_from_v1(data) if _is_v1(data) else Request.parse(data)
    except MessageInvalid as error:
        raise MessageInvalid(what=f"request {word}", problems=error.problems) from error


def _is_v1(data: Any) -> bool:  # Any: decoded, not validated yet
    observation = data.get("observation") if isinstance(data, dict) else None
    location = observation.get("location") if isinstance(observation, dict) else None
    return isinstance(location, dict) and bool({"current_stage_id", "current_step_id"} & location.keys())


def read_judgement(word: str) -> PlanningResponse:
    """The answer of /planning in a file. Raises MessageInvalid."""
    try:
        answer = PlanningResponse.parse(_read(word))
    except MessageInvalid as error:
        raise MessageInvalid(what=f"answer {word}", problems=error.problems) from error
    # Every field has a default: without this, any object at all would be a judgement.
    unknown = answer.model_extra or {}
    if unknown and not answer.model_fields_set - unknown.keys():
        problem = f"it is no judgement: it holds nothing but {', '.join(unknown)}"
        raise MessageInvalid(what=f"answer {word}", problems=[("", problem)])
    return answer


def _read(word: str) -> Any:  # Any: decoded, not validated yet
    try:
        text = sys.stdin.read() if word == STDIN else Path(word).read_text(encoding="utf-8-sig")
        return json.loads(text)
    except OSError as error:
        problem = f"it cannot be read: {error.strerror or error}"
        raise MessageInvalid(what=f"file {word}", problems=[("", problem)]) from error
    except (ValueError, RecursionError) as error:
        raise MessageInvalid(what=f"file {word}", problems=[("", f"not JSON: {error}")]) from error
