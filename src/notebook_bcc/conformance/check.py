"""What a check is, what it finds, and the report of all of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from notebook_bcc.conformance.exchange import Exchange

Severity = Literal["required", "recommended"]
Result = Literal["holds", "fails", "skipped"]

# What a check is given to work with; the kit's CheckContext, but this module need not know it.
_Context = TypeVar("_Context", contravariant=True)


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found, in one line, with the exchange that shows it. `severity` overrules the check's own."""

    result: Result
    reason: str = ""
    exchange: Exchange | None = None
    severity: Severity | None = None


def holds(reason: str = "") -> Finding:
    return Finding("holds", reason)


def fails(reason: str, exchange: Exchange | None = None, *, severity: Severity | None = None) -> Finding:
    return Finding("fails", reason, exchange, severity)


def skipped(reason: str) -> Finding:
    return Finding("skipped", reason)


@dataclass(frozen=True, slots=True)
class Check(Generic[_Context]):
    """One thing the protocol asks of a server. `section` is the place in docs/protocol that says so."""

    id: str
    title: str
    section: str
    severity: Severity
    look: Callable[[_Context], Awaitable[Finding]]


@dataclass(frozen=True, slots=True)
class ReportRow:
    """One line of the report. `sent` and `got` are the exchange that shows what fails, whole."""

    id: str
    title: str
    section: str
    severity: Severity
    result: Result
    reason: str
    sent: str = ""
    got: str = ""

    @classmethod
    def of(cls, check: Check[_Context], finding: Finding) -> ReportRow:
        shown = finding.exchange if finding.result == "fails" else None
        return cls(
            id=check.id,
            title=check.title,
            section=check.section,
            severity=finding.severity or check.severity,
            result=finding.result,
            reason=finding.reason,
            sent=shown.request_text if shown is not None else "",
            got=shown.answer_text if shown is not None else "",
        )


@dataclass(frozen=True, slots=True)
class Report:
    """Everything the kit found out about one server."""

    server: str
    rows: tuple[ReportRow, ...]
    requests: int
    seconds: float

    @property
    def conforms(self) -> bool:
        """Whether everything required holds; what was skipped is not held against a server."""
        return not any(row.result == "fails" and row.severity == "required" for row in self.rows)

    def count(self, result: Result, severity: Severity | None = None) -> int:
        return sum(row.result == result and severity in (None, row.severity) for row in self.rows)
