"""Which planner, kernel, sandbox and journal a run has: tagged unions, kept in its first record and its folder.

A new kind is a class here, a member of its union, and a factory in `wiring`. A journal that names it cannot be read by
an older version: `FORMAT_VERSION` of the journal rises with it. A spec never holds a secret: addresses lose theirs.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

from notebook_bcc.protocol.addresses import without_credentials
from notebook_bcc.protocol.vocabulary import Dialect

DEFAULT_KERNEL: Final = "python3"

# How the strings of journal format 1 name planners: a word, an address, or an address behind this.
_FIRST_DIALECT: Final = "v1+"
_REPLAY: Final = "replay:"
_WEB: Final = ("http://", "https://")


def _public_address(address: str) -> str:
    if not address.startswith(_WEB):
        raise ValueError("an address begins with http:// or https://")
    return without_credentials(address)


PublicAddress = Annotated[str, AfterValidator(_public_address)]


class _Spec(BaseModel):
    """Kept in a journal: frozen; fields that a later version added stay. `str()` is how people read it."""

    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)

    @model_serializer(mode="wrap")
    def _with_kind(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:  # Any: JSON
        # Records leave defaults out; the kind is one, and without it nobody could tell the specs apart.
        kind = type(self).model_fields["kind"].default
        return {"kind": kind, **handler(self)}


class ScriptPlannerSpec(_Spec):
    """The script in the run's folder."""

    kind: Literal["script"] = "script"

    def __str__(self) -> str:
        return self.kind


class PlaybookPlannerSpec(_Spec):
    """The playbook in the run's folder."""

    kind: Literal["playbook"] = "playbook"

    def __str__(self) -> str:
        return self.kind


class LlmPlannerSpec(_Spec):
    """The language models that the run's folder names, with its playbook behind them."""

    kind: Literal["llm"] = "llm"

    def __str__(self) -> str:
        return self.kind


class RemotePlannerSpec(_Spec):
    """A DSLC service. Its token comes from the environment."""

    kind: Literal["remote"] = "remote"
    url: PublicAddress
    dialect: Dialect = "v2"

    def __str__(self) -> str:
        return f"{_FIRST_DIALECT}{self.url}" if self.dialect == "v1" else self.url


class ReplayPlannerSpec(_Spec):
    """The answers that the run in another folder was given."""

    kind: Literal["replay"] = "replay"
    path: str

    def __str__(self) -> str:
        return f"{_REPLAY}{self.path}"


PlannerSpec = Annotated[
    ScriptPlannerSpec | PlaybookPlannerSpec | LlmPlannerSpec | RemotePlannerSpec | ReplayPlannerSpec,
    Field(discriminator="kind"),
]


class LocalKernelSpec(_Spec):
    """A kernel in a process of ours."""

    kind: Literal["local"] = "local"
    name: str = DEFAULT_KERNEL

    def __str__(self) -> str:
        return self.kind


class JupyterServerKernelSpec(_Spec):
    """A kernel behind a Jupyter Server. Its token comes from the environment."""

    kind: Literal["jupyter_server"] = "jupyter_server"
    url: PublicAddress
    name: str = DEFAULT_KERNEL

    def __str__(self) -> str:
        return self.url


KernelSpec = Annotated[LocalKernelSpec | JupyterServerKernelSpec, Field(discriminator="kind")]


class NoSandboxSpec(_Spec):
    """Cells may do what the user may do."""

    kind: Literal["none"] = "none"

    def __str__(self) -> str:
        return self.kind


class _Confining(_Spec):
    """Cells may use their working directory, and read their inputs, the system and the interpreter; nothing else.
    `network`: they share the network of the machine."""

    network: bool = False

    def __str__(self) -> str:
        kind = type(self).model_fields["kind"].default
        return f"{kind} with the network" if self.network else str(kind)


class BubblewrapSandboxSpec(_Confining):
    """In namespaces of their own."""

    kind: Literal["bubblewrap"] = "bubblewrap"


class LandlockSandboxSpec(_Confining):
    """By rules of the system for files, sockets and system calls."""

    kind: Literal["landlock"] = "landlock"


SandboxSpec = Annotated[
    NoSandboxSpec | BubblewrapSandboxSpec | LandlockSandboxSpec,
    Field(discriminator="kind"),
]
UNCONFINED: Final = NoSandboxSpec()
ConfiningKind = Literal["bubblewrap", "landlock"]
_RUNGS: Final[tuple[ConfiningKind, ...]] = ("bubblewrap", "landlock")


def is_confined(spec: SandboxSpec) -> bool:
    """Whether cells are kept in a sandbox at all."""
    return spec.kind != UNCONFINED.kind


def has_network(spec: SandboxSpec) -> bool:
    """Whether cells can reach other machines."""
    return not isinstance(spec, _Confining) or spec.network


def confined_by(rung: ConfiningKind, *, network: bool) -> SandboxSpec:
    """The sandbox of this kind."""
    return BubblewrapSandboxSpec(network=network) if rung == "bubblewrap" else LandlockSandboxSpec(network=network)


def sandbox_of_text(text: str) -> SandboxSpec:
    """The sandbox that a notebook names; none for a text that is no such name."""
    made = [confined_by(rung, network=network) for rung in _RUNGS for network in (False, True)]
    return next((one for one in made if str(one) == text), UNCONFINED)


class SqliteJournalSpec(_Spec):
    """A journal in one SQLite file, by its path."""

    kind: Literal["sqlite"] = "sqlite"
    path: str

    def __str__(self) -> str:
        return self.path


# With a second kind: Annotated[SqliteJournalSpec | ..., Field(discriminator="kind")].
JournalSpec = SqliteJournalSpec


def planner_of_text(text: str) -> PlannerSpec | None:
    """The planner that a record of format 1 names; None for one that nobody can make from its name."""
    address = text.removeprefix(_FIRST_DIALECT)
    if address.startswith(_WEB):
        return RemotePlannerSpec(url=address, dialect="v2" if address == text else "v1")
    if text.startswith(_REPLAY):
        return ReplayPlannerSpec(path=text.removeprefix(_REPLAY))
    return _BY_WORD.get(text)


def kernel_of_text(name: str, url: str) -> KernelSpec:
    """The kernel of a record of format 1, where an address meant a Jupyter Server."""
    return JupyterServerKernelSpec(url=url, name=name) if url else LocalKernelSpec(name=name)


_BY_WORD: Final[dict[str, PlannerSpec]] = {
    str(one): one for one in (ScriptPlannerSpec(), PlaybookPlannerSpec(), LlmPlannerSpec())
}
