"""What is asked for when a run begins or goes on: a run's first record and the next ones are made from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final, Literal

from notebook_bcc import __version__
from notebook_bcc.journal.records import RunStarted
from notebook_bcc.lifecycle.folder import Input
from notebook_bcc.lifecycle.sandbox_request import NO_REQUEST, SandboxRequest
from notebook_bcc.llm.choice import ChoiceFiles
from notebook_bcc.playbook.folder import PlaybookFiles
from notebook_bcc.protocol.limits import Limits, Policies
from notebook_bcc.protocol.specs import UNCONFINED, KernelSpec, LocalKernelSpec, PlannerSpec, SandboxSpec
from notebook_bcc.protocol.workflow import Workflow

Restart = Literal["behavior", "workflow", "reset"]


@dataclass(frozen=True, slots=True)
class RunOrder:
    """Everything that is known about a run before it exists. The input behind it has been validated.

    A field that the first record has too goes into it under the same name. `run_id` is an id of the caller's own;
    `identity` is what such an id stands for. `notebook` is the path that a copy of the notebook is kept under on the
    server of the kernel.
    """

    name: str
    planner_spec: PlannerSpec
    goal: str = ""
    title: str = ""
    workflow: Workflow | None = None
    variables: Mapping[str, Any] = field(default_factory=dict)
    policies: Policies = field(default_factory=Policies)
    limits: Limits = field(default_factory=Limits)
    kernel_spec: KernelSpec = field(default_factory=LocalKernelSpec)
    sandbox_spec: SandboxSpec = UNCONFINED
    inputs: tuple[Input, ...] = ()
    script: Path | None = None
    playbook: PlaybookFiles | None = None
    models: ChoiceFiles | None = None
    actions: Path | None = None
    out: Path | None = None
    out_folder: Path | None = None
    overwrite: bool = False
    notebook: str = ""
    verify: bool = True
    run_id: str = ""
    identity: Mapping[str, str] = field(default_factory=dict)

    def first_record(self, run_id: str) -> RunStarted:
        """How the journal of this run begins."""
        return RunStarted(run_id=run_id, version=__version__, **{name: getattr(self, name) for name in _RECORDED})


def order_again(record: RunStarted, *, name: str, planner_spec: PlannerSpec, inputs: tuple[Input, ...]) -> RunOrder:
    """The order for what a recorded run was, with another planner."""
    recorded = {one: getattr(record, one) for one in _RECORDED}
    kept = {one: value for one, value in recorded.items() if value is not None}
    return RunOrder(
        **{**kept, "kernel_spec": record.chosen_kernel, "planner_spec": planner_spec}, name=name, inputs=inputs
    )


_RECORDED: Final = tuple(
    one.name for one in fields(RunOrder) if one.name in RunStarted.model_fields and one.name != "run_id"
)


@dataclass(frozen=True, slots=True)
class ResumeOrder:
    """How to go on. What is not in `policies` and `limits` stays as it was; so do planner and kernel unless named.

    Of another kernel only the place counts: the run's own kernel name stays. Its sandbox is the least it has, whatever
    `sandbox` asks for. `inputs` are told to the run: the answer to a question of its planner, given `by` somebody;
    `answers` is the number of that question, as `nbcc status` shows it, zero for whichever waits. `notebook`: from here
    on the server of the kernel keeps a copy under this path. `actions` is a file of custom actions in place of the
    run's own. `run_once` are the cells marked `once` that may be executed again.
    """

    restart: Restart = "behavior"
    accept_differences: bool = False
    run_once: tuple[str, ...] = ()
    policies: Mapping[str, Any] = field(default_factory=dict)
    limits: Mapping[str, Any] = field(default_factory=dict)
    planner_spec: PlannerSpec | None = None
    kernel_spec: KernelSpec | None = None
    sandbox: SandboxRequest = NO_REQUEST
    inputs: Mapping[str, Any] = field(default_factory=dict)
    answers: int = 0
    by: str = ""
    notebook: str = ""
    actions: Path | None = None
