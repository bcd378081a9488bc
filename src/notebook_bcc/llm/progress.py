"""Whether a run is still getting anywhere. Pure: the rounds of a step are compared with each other."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from notebook_bcc.llm.prompt.sharing_text import is_error
from notebook_bcc.protocol.messages import Request

Kind = Literal["plan", "code", "error"]

# What differs between two reports of the same error: addresses, positions, times, and how often it was tried.
_VARYING = re.compile(r"0x[0-9a-fA-F]+|\d+(?:\.\d+)?")
_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_BLANK = re.compile(r"\s+")
_LAYOUT = frozenset(
    {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING}
)
_WORDS: dict[Kind, str] = {"plan": "the same plan", "code": "the same code", "error": "the same error"}


@dataclass(frozen=True, slots=True)
class Round:
    """One try at a goal: what was meant, what was run, how it ended. An empty text is not known and equals nothing."""

    plan: str = ""
    code: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Stuck:
    """The newest rounds are alike."""

    kind: Kind
    times: int

    def __str__(self) -> str:
        return f"no progress: {_WORDS[self.kind]} {self.times} times in a row"


def stuck(rounds: Sequence[Round], *, patience: int = 3) -> Stuck | None:
    """What the newest rounds repeat, `patience` times or more; code is looked at first, since it explains the most.

    The same code twice is enough when it failed with the same error: it will fail a third time.
    """
    counts: dict[Kind, int] = {
        "code": _repeated([code_shape(one.code) for one in rounds]),
        "error": _repeated([error_shape(one.error) for one in rounds]),
        "plan": _repeated([_BLANK.sub(" ", one.plan).strip().casefold() for one in rounds]),
    }
    if min(counts["code"], counts["error"]) >= min(2, patience):
        return Stuck("code", counts["code"])
    return next((Stuck(kind, times) for kind, times in counts.items() if times >= patience), None)


def code_shape(code: str) -> str:
    """The code without what does not change what it does: comments, blank lines, the width of white space."""
    try:
        tokens = [one.string for one in tokenize.generate_tokens(io.StringIO(code).readline) if one.type not in _LAYOUT]
    except (tokenize.TokenError, SyntaxError):
        return _BLANK.sub(" ", code).strip()
    return " ".join(tokens).strip()


def error_shape(error: str) -> str:
    """The error without what differs each time: its last line that says something, numbers taken out."""
    lines = [line.strip() for line in _ANSI.sub("", error).splitlines() if line.strip()]
    return _VARYING.sub("#", lines[-1]) if lines else ""


def rounds_of(request: Request) -> tuple[Round, ...]:
    """The rounds that an observation tells of, oldest first: behaviors of this step that missed their goal.

    What each ran is not in an observation. The errors are those among the current effects, newest last; they belong to
    the newest rounds.
    """
    level = request.observation.location.progress.behaviors
    missed = [one for one in (level.completed if level is not None else ()) if one.achieved is False]
    plans = [" ".join([one.goal, *one.actions_taken, *one.missing_outputs]) for one in missed]
    errors = [text for text in map(str, request.observation.context.effects.current) if is_error(text)]
    count = max(len(plans), len(errors))
    plans = [""] * (count - len(plans)) + plans
    errors = [""] * (count - len(errors)) + errors
    return tuple(Round(plan=plan, error=error) for plan, error in zip(plans, errors, strict=True))


def _repeated(shapes: Sequence[str]) -> int:
    """How many of the newest are the same; none when the newest is not known."""
    if not shapes or not shapes[-1]:
        return 0
    return next((count for count, one in enumerate(reversed(shapes)) if one != shapes[-1]), len(shapes))
