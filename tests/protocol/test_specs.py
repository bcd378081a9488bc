"""Specs of planners, kernels, sandboxes and journals: told apart by kind, read from older records, without secrets."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

import notebook_bcc
from notebook_bcc.journal.encoding import decode_record, encode_record
from notebook_bcc.journal.records import FORMAT_VERSION, RunResumed, RunStarted
from notebook_bcc.protocol.specs import (
    JournalSpec,
    JupyterServerKernelSpec,
    KernelSpec,
    LlmPlannerSpec,
    LocalKernelSpec,
    NoSandboxSpec,
    PlannerSpec,
    PlaybookPlannerSpec,
    RemotePlannerSpec,
    ReplayPlannerSpec,
    SandboxSpec,
    ScriptPlannerSpec,
    SqliteJournalSpec,
    kernel_of_text,
    planner_of_text,
)

PLANNERS: list[tuple[str, PlannerSpec]] = [
    ("script", ScriptPlannerSpec()),
    ("playbook", PlaybookPlannerSpec()),
    ("llm", LlmPlannerSpec()),
    ("http://127.0.0.1:28600", RemotePlannerSpec(url="http://127.0.0.1:28600")),
    ("v1+https://a.example/dslc", RemotePlannerSpec(url="https://a.example/dslc", dialect="v1")),
    ("replay:/runs/one", ReplayPlannerSpec(path="/runs/one")),
]
KERNELS: list[KernelSpec] = [LocalKernelSpec(name="ir"), JupyterServerKernelSpec(url="http://127.0.0.1:18600")]
SECRET = "hush-hush"
SOURCE = Path(notebook_bcc.__file__).parent
KINDS_OF_FORMAT = {
    5: {
        "planner": {"script", "playbook", "llm", "remote", "replay"},
        "kernel": {"local", "jupyter_server"},
        "sandbox": {"none", "bubblewrap", "landlock"},
        "journal": {"sqlite"},
    }
}


def kinds(union: Any) -> set[str]:
    schema = json.dumps(TypeAdapter(union).json_schema())
    return {part.split('"')[0] for part in schema.split('"const": "')[1:]}


def test_a_new_kind_raises_the_format_so_that_older_versions_refuse_the_journal_by_name() -> None:
    now = {
        "planner": kinds(PlannerSpec),
        "kernel": kinds(KernelSpec),
        "sandbox": kinds(SandboxSpec),
        "journal": kinds(JournalSpec),
    }
    assert now == KINDS_OF_FORMAT[FORMAT_VERSION], "give FORMAT_VERSION the next number, and a line here"


@pytest.mark.parametrize(("text", "spec"), PLANNERS)
def test_a_planner_named_by_a_string_of_format_1_is_read_as_its_spec_and_shown_as_before(
    text: str, spec: PlannerSpec
) -> None:
    assert planner_of_text(text) == spec
    assert str(spec) == text
    assert RunStarted(run_id="r", planner=text).chosen_planner == spec
    assert RunResumed(planner=text).chosen_planner == spec


def test_a_planner_that_a_program_brought_itself_has_no_spec() -> None:
    assert planner_of_text("") is None
    assert planner_of_text("scripted") is None


def test_a_kernel_of_format_1_is_behind_a_server_if_it_has_an_address() -> None:
    assert kernel_of_text("ir", "") == LocalKernelSpec(name="ir")
    assert kernel_of_text("ir", "http://h:1") == JupyterServerKernelSpec(url="http://h:1", name="ir")
    moved = RunResumed(kernel_url="http://h:1").chosen_kernel(LocalKernelSpec(name="ir"))
    assert moved == JupyterServerKernelSpec(url="http://h:1", name="ir")
    assert RunResumed(kernel_url="").chosen_kernel(moved) == LocalKernelSpec(name="ir")
    assert RunResumed().chosen_kernel(moved) is None


@pytest.mark.parametrize("spec", [spec for _, spec in PLANNERS])
def test_a_planner_comes_back_from_a_record_as_the_same_kind(spec: PlannerSpec) -> None:
    record = RunStarted(run_id="r", planner_spec=spec, sandbox_spec=NoSandboxSpec())
    assert decode_record("run_started", encode_record(record)) == record


@pytest.mark.parametrize("spec", KERNELS)
def test_a_kernel_comes_back_from_a_record_as_the_same_kind(spec: KernelSpec) -> None:
    record = RunResumed(kernel_spec=spec)
    assert decode_record("run_resumed", encode_record(record)) == record


def test_a_kind_that_is_not_known_is_not_taken_for_another() -> None:
    with pytest.raises(ValidationError, match="oracle"):
        TypeAdapter[PlannerSpec](PlannerSpec).validate_python({"kind": "oracle", "url": "http://h"})


@pytest.mark.parametrize(
    "address", [f"http://user:{SECRET}@h:1/path", f"http://{SECRET}@h:1/path/", f"http://h:1/path?token={SECRET}#x"]
)
def test_an_address_loses_whatever_may_be_a_secret(address: str) -> None:
    for spec in (RemotePlannerSpec(url=address), JupyterServerKernelSpec(url=address)):
        assert spec.url == "http://h:1/path"
        assert SECRET not in spec.model_dump_json() + str(spec) + repr(spec)


def test_what_is_no_address_on_the_web_is_refused() -> None:
    with pytest.raises(ValidationError, match="http://"):
        RemotePlannerSpec(url="file:///etc/passwd")


def test_a_journal_is_named_by_a_path() -> None:
    assert SqliteJournalSpec.model_validate_json(SqliteJournalSpec(path="a/b.sqlite").model_dump_json()) == (
        SqliteJournalSpec(path="a/b.sqlite")
    )


# A local kernel is left out: it is what is meant wherever no other is named.
CHOSEN: set[type] = {*(type(spec) for _, spec in PLANNERS), JupyterServerKernelSpec, NoSandboxSpec, SqliteJournalSpec}
# Python names that are promised to people who choose for themselves.
FRONT_DOORS = {"__init__.py", "compat/api_client.py", "compat/script_store.py"}


@pytest.mark.parametrize("spec", sorted(CHOSEN, key=str))
def test_a_kind_is_known_to_at_most_three_files_outside_of_its_own_package(spec: type) -> None:
    files = [path for path in SOURCE.rglob("*.py") if "playbooks" not in path.relative_to(SOURCE).parts]
    naming = [str(path.relative_to(SOURCE)) for path in files if spec.__name__ in path.read_text(encoding="utf-8")]
    assert len(naming) <= 3, naming


@pytest.mark.parametrize("implementation", ["SqliteJournal", "LocalKernel", "JupyterServerKernel", "RemotePlanner"])
def test_only_wiring_and_the_front_doors_pick_an_implementation(implementation: str) -> None:
    imports = re.compile(rf"^ *from notebook_bcc\.\S+ import .*\b{implementation}\b", re.MULTILINE)
    picking = {
        str(path.relative_to(SOURCE)) for path in SOURCE.rglob("*.py") if imports.search(path.read_text("utf-8"))
    }
    assert picking <= FRONT_DOORS | {"wiring.py", "cli/author/ask.py"}, picking
