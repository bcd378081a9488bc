"""One class name, one meaning: a reader who finds a class by its name has found the right one."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import notebook_bcc

PACKAGE = Path(notebook_bcc.__file__).parent
# Names of 0.1.0 that are kept on purpose, and templates that are no modules.
EXEMPT = ("compat", "playbooks")
# Names that still stand twice, each with a class in the engine, a kernel, the service, the remote planner or the
# conformance kit that is to get a name of its own. No name may be added.
PENDING = {
    "Answer",  # kernel/inside/probe, planners/remote/client, server/answers
    "Arrival",  # conformance/exchange, kernel/jupyter_server/wire
    "Behavior",  # engine/state, planners/script/values (which keeps it)
    "Connection",  # kernel/local/process, server/connection
    "Exchange",  # conformance/exchange, kernel/local/conversation, server/exchange
    "Line",  # kernel/terminal, server/exchange
    "Message",  # kernel/local/wire, protocol/message (which keeps it)
    "Position",  # conformance/position, engine/state (which keeps it)
    "Request",  # kernel/local/conversation, protocol/messages (which keeps it)
    "Row",  # conformance/check, fsm/table (which keeps it)
    "Wire",  # kernel/local/wire, planners/remote/client
    "_Server",  # kernel/jupyter_server/backend, server/serving
}


def classes_by_name() -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        place = path.relative_to(PACKAGE)
        if place.parts[0] not in EXEMPT:
            tree = ast.parse(path.read_text(encoding="utf-8"))
            for node in (each for each in ast.walk(tree) if isinstance(each, ast.ClassDef)):
                found[node.name].append(place.as_posix())
    return found


def test_no_two_classes_have_the_same_name() -> None:
    twice = {name: places for name, places in classes_by_name().items() if len(places) > 1}
    assert {name: places for name, places in twice.items() if name not in PENDING} == {}
