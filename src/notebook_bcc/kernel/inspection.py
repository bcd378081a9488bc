"""What we ask a Python kernel about its variables, and how its answers are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import orjson

from notebook_bcc.kernel.interface import VariableChanges
from notebook_bcc.kernel.local.wire import Content

_MIME = "application/vnd.notebook-bcc.probe+json"
_PAYLOAD = "notebook_bcc.variables"
_PROBE = "_notebook_bcc_probe"
_UNATTENDED = "_notebook_bcc_unattended"
_SURROUNDINGS = "_notebook_bcc_surroundings"
_ASK = "notebook_bcc"

# Runs in the kernel with nothing of ours imported: modules made from source, and the objects that stay there.
_INSTALL = """
import sys, types
for name, source in sources.items():
    module = types.ModuleType(name)
    exec(compile(source, "<" + name + ">", "exec"), module.__dict__)
    sys.modules[name] = module
probe = sys.modules["_notebook_bcc_probe"]
shell = get_ipython()
namespace = probe.namespace = probe.Namespace(shell.user_ns, **limits)
if "_notebook_bcc_unattended" in sources:
    unattended = sys.modules["_notebook_bcc_unattended"]
    probe.surroundings = sys.modules["_notebook_bcc_surroundings"].Surroundings(shell)
    probe.agent = unattended.KernelAgent(shell, lambda: probe.encode(namespace.changes()))
    probe.agent.start()
"""


@dataclass(frozen=True, slots=True)
class VariableLimits:
    """How much of a variable is shown: beyond `items` or `chars` its type summary; summaries up to `summary_chars`."""

    items: int = 200
    chars: int = 8_000
    summary_chars: int = 4_000


def install(limits: VariableLimits, *, unattended: bool) -> str:
    """The expression that brings the probe (and, for ipykernel, `unattended`) into the kernel."""
    names = [_PROBE, *([_UNATTENDED, _SURROUNDINGS] if unattended else ())]
    package = files("notebook_bcc.kernel.inside")
    sources = {
        name: package.joinpath(f"{name.removeprefix('_notebook_bcc_')}.py").read_text(encoding="utf-8")
        for name in names
    }
    sizes = {"max_items": limits.items, "max_chars": limits.chars, "max_summary": limits.summary_chars}
    scope = f"'sources': {sources!r}, 'limits': {sizes!r}, 'get_ipython': get_ipython"
    return f"(exec({_INSTALL!r}, {{{scope}}}), {_call('changes()')})[1]"


def list_changes() -> str:
    return _call("changes()")


def summarize(wanted: Mapping[str, str]) -> str:
    return _call(f"summarize({dict(wanted)!r})")


def evaluate(expression: str) -> str:
    """Any expression as a question, for a kernel that has the probe; its value must be JSON."""
    return f"__import__('sys').modules[{_PROBE!r}].ProbeReply({expression})"


def ask(expression: str) -> Content:
    """The execute_request that evaluates an expression and leaves no trace: no code, no history, no count."""
    return {
        "code": "",
        "silent": True,
        "store_history": False,
        "user_expressions": {_ASK: expression},
        "allow_stdin": False,
        "stop_on_error": False,
    }


def answer(reply: Content) -> Any | None:
    """What the expression gave, None when it could not be evaluated."""
    found = reply.get("user_expressions", {}).get(_ASK, {}).get("data", {}).get(_MIME)
    return None if found is None else orjson.loads(found)


def failure(reply: Content) -> str:
    """Why an expression could not be evaluated."""
    found = reply.get("user_expressions", {}).get(_ASK, {})
    return f"{found.get('ename', 'no answer')}: {found.get('evalue', reply.get('status', ''))}"


def attached_changes(reply: Content) -> VariableChanges | None:
    """The listing that came with a cell's reply; None when it has none."""
    for payload in reply.get("payload", ()):
        if payload.get("source") == _PAYLOAD:
            return read_changes(orjson.loads(payload["changes"]))
    return None


def read_changes(found: Any) -> VariableChanges:
    return VariableChanges(updated=found["updated"], removed=tuple(found["removed"]))


def _call(what: str) -> str:
    probe = f"__import__('sys').modules[{_PROBE!r}]"
    return f"{probe}.ProbeReply({probe}.namespace.{what})"
