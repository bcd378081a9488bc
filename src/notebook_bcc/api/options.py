"""What can be said about a run: the keywords of `run`, `arun` and `start`, and the options of `nbcc run`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import Any, Final, Literal, TypedDict, cast

from notebook_bcc.lifecycle.sandbox_request import SandboxChoice, SandboxRequest
from notebook_bcc.llm.limits import Fallback, Share
from notebook_bcc.protocol.vocabulary import Dialect, Language
from notebook_bcc.settings import Settings, read_address, read_settings, read_token

Confirm = Literal["ask", "auto", "reject"]
OnError = Literal["feedback", "continue", "fail"]
OnUnachieved = Literal["fail", "skip"]
OnOutage = Literal["stop", "fallback"]
TargetKind = Literal["regression", "classification"]
NotebookDetail = Literal["summary", "cells"]
FilePath = str | PathLike[str]
Table = Any  # Any: a path, or a DataFrame of a library that we do not import

LOCAL: Final = "local"
_GIGABYTE: Final = 1_000_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class RunOptions:
    """Everything but the data. Empty and None were not said: the settings or the defaults of `nbcc run` count."""

    target: str | Sequence[str] = ()
    test: Table = None
    goal: str = ""
    task: str = ""
    variables: Mapping[str, Any] | None = None  # Any: JSON values
    time: str = ""
    group: str = ""
    kind: TargetKind | None = None
    keep: str | Sequence[str] = ()
    sheet: str = ""
    table: str = ""
    playbook: FilePath = ""
    lang: Language | None = None
    run_id: str = ""
    wait: bool = True
    name: str = ""
    out: FilePath = ""
    overwrite: bool = False
    verify: bool = True
    planner: str = ""
    model: str = ""
    planning_model: str = ""
    share: Share | None = None
    fallback: Fallback | None = None
    images: bool = False
    budget_tokens: int | None = None
    budget_cost: float | None = None
    budget_seconds: float | None = None
    budget_calls: int | None = None
    prices: FilePath | None = None
    prompts: FilePath | None = None
    dialect: Dialect | None = None
    stream: bool | None = None
    notebook_detail: NotebookDetail | None = None
    token_file: FilePath | None = None
    kernel: str = "python3"
    kernel_url: str | None = None
    notebook_id: str | None = None
    confirm: Confirm | None = None
    on_error: OnError | None = None
    on_unachieved: OnUnachieved | None = None
    on_outage: OnOutage | None = None
    strict_actions: bool | None = None
    actions: FilePath | None = None
    interactive: bool | None = None
    max_actions: int | None = None
    max_behaviors: int | None = None
    max_actions_per_behavior: int | None = None
    max_seconds: float | None = None
    cell_timeout: float | None = None
    max_memory: float | None = None
    max_processes: int | None = None
    max_disk: float | None = None
    sandbox: SandboxChoice | None = None
    allow_net: bool = False
    runs: FilePath | None = None
    progress: bool | None = None

    @property
    def targets(self) -> tuple[str, ...]:
        """The columns to predict. A frame may have columns that are called by numbers."""
        named = (self.target,) if isinstance(self.target, str | int) else tuple(self.target or ())
        return tuple(str(one) for one in named if one != "")

    @property
    def kept(self) -> tuple[str, ...]:
        """The columns that stay features whatever is found in them."""
        return (self.keep,) if isinstance(self.keep, str) and self.keep else tuple(self.keep or ())

    @property
    def policies(self) -> dict[str, Any]:  # Any: values of any type
        """What was said about choices of the run, by the names that `Policies` has."""
        return given(
            confirm=self.confirm,
            on_error=self.on_error,
            on_unachieved=self.on_unachieved,
            on_outage=self.on_outage,
            strict_actions=self.strict_actions,
            stream=self.stream,
            notebook_detail=self.notebook_detail,
        )

    @property
    def budgets(self) -> dict[str, Any]:  # Any: numbers
        """What was said about what models may take, by the names that `Limits` has."""
        return given(
            model_tokens=self.budget_tokens,
            model_dollars=self.budget_cost,
            model_seconds=self.budget_seconds,
            model_calls=self.budget_calls,
        )

    @property
    def limits(self) -> dict[str, Any]:  # Any: numbers
        """What was said about limits, by the names that `Limits` has."""
        return self.budgets | given(
            actions=self.max_actions,
            behaviors_per_step=self.max_behaviors,
            actions_per_behavior=self.max_actions_per_behavior,
            run_seconds=self.max_seconds,
            cell_seconds=self.cell_timeout,
            memory_bytes=_bytes(self.max_memory),
            processes=self.max_processes,
            disk_bytes=_bytes(self.max_disk),
        )

    @property
    def sandbox_request(self) -> SandboxRequest:
        """What was said about a sandbox."""
        return SandboxRequest(self.sandbox, allow_net=self.allow_net)

    def settings(self) -> Settings:
        """The settings, with what was said here first. Raises SettingsInvalid."""
        return settings_of(
            runs=Path(self.runs) if self.runs is not None else None,
            lang=self.lang,
            max_actions=self.max_actions,
            interactive=self.interactive,
            kernel_url=self.kernel_url,
            notebook_id=self.notebook_id,
            token_file=Path(self.token_file) if self.token_file is not None else None,
        )


class RunKeywords(TypedDict, total=False):
    """The fields of RunOptions as keywords, so that a type checker knows them."""

    target: str | Sequence[str]
    test: Table
    goal: str
    task: str
    variables: Mapping[str, Any] | None  # Any: JSON values
    time: str
    group: str
    kind: TargetKind | None
    keep: str | Sequence[str]
    sheet: str
    table: str
    playbook: FilePath
    lang: Language | None
    run_id: str
    wait: bool
    name: str
    out: FilePath
    overwrite: bool
    verify: bool
    planner: str
    model: str
    planning_model: str
    share: Share | None
    fallback: Fallback | None
    images: bool
    budget_tokens: int | None
    budget_cost: float | None
    budget_seconds: float | None
    budget_calls: int | None
    prices: FilePath | None
    prompts: FilePath | None
    dialect: Dialect | None
    stream: bool | None
    notebook_detail: NotebookDetail | None
    token_file: FilePath | None
    kernel: str
    kernel_url: str | None
    notebook_id: str | None
    confirm: Confirm | None
    on_error: OnError | None
    on_unachieved: OnUnachieved | None
    on_outage: OnOutage | None
    strict_actions: bool | None
    actions: FilePath | None
    interactive: bool | None
    max_actions: int | None
    max_behaviors: int | None
    max_actions_per_behavior: int | None
    max_seconds: float | None
    cell_timeout: float | None
    max_memory: float | None
    max_processes: int | None
    max_disk: float | None
    sandbox: SandboxChoice | None
    allow_net: bool
    runs: FilePath | None
    progress: bool | None


def settings_of(
    *,
    runs: Path | None = None,
    lang: Language | None = None,
    max_actions: int | None = None,
    interactive: bool | None = None,
    kernel_url: str | None = None,
    notebook_id: str | None = None,
    token_file: Path | None = None,
) -> Settings:
    """The settings, with what was given by the caller first. `token_file` holds the planner's token."""
    flags: dict[str, Any] = {  # Any: values of any type
        "runs": runs,
        "lang": lang,
        "max_execution_steps": max_actions,
        "interactive_mode": interactive,
        "notebook_id": notebook_id,
        "dslc_token": read_token(token_file) if token_file is not None else None,
    }
    if kernel_url == LOCAL:
        flags["use_remote_execution"] = False
    elif kernel_url is not None:
        flags["backend_base_url"] = read_address(kernel_url, option="--kernel-url")
        flags["use_remote_execution"] = True
    return read_settings(flags=flags)


def _bytes(gigabytes: Any) -> Any:  # Any: whatever a caller gave
    """In bytes; what is no number is for others to refuse."""
    is_number = isinstance(gigabytes, int | float) and isfinite(gigabytes)
    return int(gigabytes * _GIGABYTE) if is_number else gigabytes


def given(**values: Any) -> dict[str, Any]:  # Any: option values of any type
    """Only what was given: options that are None leave things as they are."""
    return {name: value for name, value in values.items() if value is not None}


def keywords_of(said: Mapping[str, Any]) -> RunKeywords:  # Any: values that a command line has parsed
    """The options among parsed values; those that are None, and what are no options of a run, are left out."""
    named = {one.name for one in fields(RunOptions)}
    return cast(RunKeywords, {name: value for name, value in said.items() if name in named and value is not None})


class ResumeKeywords(TypedDict, total=False):
    """What may be said anew when a run goes on; the rest stays as it was."""

    confirm: Confirm | None
    on_error: OnError | None
    on_unachieved: OnUnachieved | None
    on_outage: OnOutage | None
    strict_actions: bool | None
    stream: bool | None
    notebook_detail: NotebookDetail | None
    max_actions: int | None
    max_behaviors: int | None
    max_actions_per_behavior: int | None
    max_seconds: float | None
    cell_timeout: float | None
    max_memory: float | None
    max_processes: int | None
    max_disk: float | None
    budget_tokens: int | None
    budget_cost: float | None
    budget_seconds: float | None
    budget_calls: int | None
