"""A record as the bytes of a journal's row, and back."""

from __future__ import annotations

from typing import get_args

from pydantic import ValidationError

from notebook_bcc.errors import MessageInvalid
from notebook_bcc.journal.records import Record, RecordBase
from notebook_bcc.protocol.problems import problems_of

RECORD_TYPES: tuple[type[RecordBase], ...] = get_args(Record)


def encode_record(record: Record) -> bytes:
    """JSON without the fields that have their default: small, and what a later version reads."""
    return record.model_dump_json(exclude_defaults=True).encode()


def decode_record(kind: str, body: bytes) -> Record:
    """The record of a journal's row. Raises MessageInvalid."""
    try:
        # `kind` is a default of its class and so not in the body: the tag stands beside it in the journal.
        model = _BY_KIND[kind]
        return model.model_validate_json(body)  # type: ignore[return-value]  # RECORD_TYPES is the union's own list
    except KeyError:
        raise MessageInvalid(what="journal record", problems=[("kind", f"{kind!r} is not a known kind")]) from None
    except ValidationError as error:
        raise MessageInvalid(what=f"journal record {kind!r}", problems=problems_of(error)) from error


_BY_KIND: dict[str, type[RecordBase]] = {model.model_fields["kind"].default: model for model in RECORD_TYPES}
