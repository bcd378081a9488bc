"""What all records of a journal have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class RecordBase(BaseModel):
    """A record is frozen; fields that a later version added are kept."""

    model_config = ConfigDict(frozen=True, extra="allow", ser_json_inf_nan="strings", defer_build=True)
