"""The copy of a run's notebook on the Jupyter Server that has its kernel: kept up to date, never over a person's edit.

Before each write the version on the server is compared with the one that was written last. If it is another one, and
its content too, a person has edited the notebook: it stays as it is, and the copy goes on under another name. A server
has no conditional write, so an edit that is saved between the look and the write of one turn is lost.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import PurePosixPath
from typing import Any, Final

from notebook_bcc.errors import NotebookFailed, RunRefused, SettingsInvalid
from notebook_bcc.kernel.contents import Contents, StoredNotebook
from notebook_bcc.lifecycle.folder import RunFolder
from notebook_bcc.notebook.atomic import replace_file
from notebook_bcc.notebook.content import content_digest, is_blank
from notebook_bcc.notebook.reading import read_content
from notebook_bcc.protocol.specs import JupyterServerKernelSpec, KernelSpec

logger = logging.getLogger(__name__)

_SUFFIX: Final = ".ipynb"
_MOST_NAMES: Final = 100


@dataclass(frozen=True, slots=True)
class CopyRecord:
    """What is known about the copy, kept in the run's folder.

    `notebook` is the path that was asked for; `replaces` whether a notebook of somebody else there may be replaced. The
    rest is about the server at `url`: the copy is at `path`, the version written last has this `hash` or this
    `last_modified`, and its content the digest `written`. `sent` is the digest of what may have arrived or not.
    """

    notebook: str
    replaces: bool = False
    url: str = ""
    path: str = ""
    hash: str = ""
    last_modified: str = ""
    written: str = ""
    sent: str = ""

    @property
    def place(self) -> str:
        """Where the copy is, for people; empty until there is one."""
        return f"{self.path} ({self.url})" if self.written else ""


def notebook_path(notebook_id: str) -> str:
    """The path on a server that a notebook id names. Raises SettingsInvalid."""
    path = PurePosixPath(notebook_id.strip().lstrip("/"))
    if not path.parts or ".." in path.parts or not str(path).isprintable():
        raise SettingsInvalid(
            f"NOTEBOOK_ID {notebook_id!r} cannot be used: give the path of a notebook on the server, from its root"
        )
    return str(path) if path.suffix == _SUFFIX else f"{path}{_SUFFIX}"


def keep_copy_record(folder: RunFolder, record: CopyRecord) -> None:
    """Raises NotebookFailed."""
    replace_file(folder.server_copy, [json.dumps(asdict(record), indent=1).encode(), b"\n"])


def read_copy_record(folder: RunFolder) -> CopyRecord | None:
    """None for a run whose notebook no server is to keep. Raises RunRefused."""
    try:
        return CopyRecord(**json.loads(folder.server_copy.read_bytes()))
    except FileNotFoundError:
        return None
    except (OSError, TypeError, ValueError) as error:
        raise RunRefused(f"{folder.server_copy} cannot be read: {error}") from error


def want_copy(folder: RunFolder, kernel_spec: KernelSpec, notebook: str, *, replaces: bool = False) -> None:
    """From here on the server of the kernel keeps a copy under this path. Raises RunRefused where the kernel has none,
    NotebookFailed."""
    if not isinstance(kernel_spec, JupyterServerKernelSpec):
        raise RunRefused(
            f"notebook {notebook} cannot be kept: the kernel of run {folder.run_id!r} is a process of ours, and no "
            "Jupyter Server has it; give --kernel-url as well"
        )
    known = read_copy_record(folder)
    if known is None or known.notebook != notebook:
        keep_copy_record(folder, CopyRecord(notebook, replaces))


class ServerCopy:
    """One run's copy on one server. `warn` is told what a person must know; a copy that fails never stops a run."""

    def __init__(
        self, folder: RunFolder, record: CopyRecord, contents: Contents, *, warn: Callable[[str], None]
    ) -> None:
        self._folder = folder
        self._contents = contents
        self._warn = warn
        # What is known about another server says nothing about this one.
        fresh = CopyRecord(record.notebook, record.replaces, url=contents.where, path=record.notebook)
        self._record = record if record.url == contents.where else fresh
        self._last_warning = ""
        self._turn: asyncio.Task[None] | None = None

    @property
    def place(self) -> str:
        """Where the copy is, for people; empty until there is one."""
        return self._record.place

    async def write(self) -> None:
        """Bring the copy up to the run's notebook file. What goes wrong is told once a reason."""
        # A write that was cancelled half-way could still arrive, after the next one: it is let end.
        self._turn = asyncio.create_task(self._bring_up(after=self._turn), name="notebook copy")
        await asyncio.shield(self._turn)

    async def close(self) -> None:
        if self._turn is not None:
            await asyncio.wait([self._turn])
        await self._contents.close()

    async def _bring_up(self, *, after: asyncio.Task[None] | None) -> None:
        if after is not None:
            await asyncio.wait([after])
        try:
            content = await asyncio.to_thread(read_content, self._folder.notebook)
            digest = await asyncio.to_thread(content_digest, content)
            if digest != self._record.written or self._record.sent:
                await self._write(content, digest)
            self._last_warning = ""
        except NotebookFailed as error:
            logger.warning("notebook not copied: %s", error)
            if str(error) != self._last_warning:
                self._last_warning = str(error)
                self._warn(f"{error}. The run goes on; its own notebook is {self._folder.notebook}")

    async def _write(self, content: dict[str, Any], digest: str) -> None:
        stored = await self._contents.look(self._record.path)
        if stored is not None and not await self._is_ours(stored):
            await self._move()
        # Before it is sent: after a crash nobody else can tell whose version is there.
        self._keep(replace(self._record, sent=digest))
        made = await self._contents.write(self._record.path, content)
        now = await self._contents.look(self._record.path)
        # Somebody who saved right after us has made another version, which is not ours to know by its hash.
        known = now.hash if now is not None and now.last_modified == made.last_modified else ""
        self._keep(
            replace(self._record, hash=known, last_modified=made.last_modified, written=digest, sent="", replaces=False)
        )

    async def _is_ours(self, stored: StoredNotebook) -> bool:
        """Whether nothing of a person's is lost by a write."""
        record = self._record
        if record.replaces:
            return True
        if stored.hash and stored.hash == record.hash:
            return True
        if not (stored.hash and record.hash) and stored.last_modified == record.last_modified:
            return True
        # Another version may have the same content: a server that lays its files out anew, a write of ours whose answer
        # never came.
        content = await self._contents.read(record.path)
        if content is None:
            return False
        if is_blank(content):
            return True
        return await asyncio.to_thread(content_digest, content) in {record.written, record.sent} - {""}

    async def _move(self) -> None:
        """Go on under a name that nobody uses, and say so."""
        old, wanted = self._record, PurePosixPath(self._record.notebook)
        for number in range(1, _MOST_NAMES):
            more = f"-{number}" if number > 1 else ""
            path = str(wanted.with_name(f"{wanted.stem}-{self._folder.run_id}{more}{_SUFFIX}"))
            if path != old.path and await self._contents.look(path) is None:
                break
        else:
            raise NotebookFailed(path=old.path, reason=f"there are {_MOST_NAMES} notebooks of this run on the server")
        self._record = CopyRecord(old.notebook, url=old.url, path=path)
        why = "was edited since this run wrote it" if old.written or old.sent else "was there before this run"
        self._warn(
            f"notebook {old.path} on {old.url} {why}: it stays as it is, and the run's notebook is kept as {path}"
        )

    def _keep(self, record: CopyRecord) -> None:
        self._record = record
        keep_copy_record(self._folder, record)


def server_copy(
    folder: RunFolder,
    kernel_spec: KernelSpec,
    make_contents: Callable[[str], Contents],
    *,
    warn: Callable[[str], None],
) -> ServerCopy | None:
    """The copy of a run on the server of its kernel; None where no copy is wanted, or the kernel has no server. Raises
    RunRefused."""
    if not isinstance(kernel_spec, JupyterServerKernelSpec):
        return None
    record = read_copy_record(folder)
    return ServerCopy(folder, record, make_contents(kernel_spec.url), warn=warn) if record is not None else None


@asynccontextmanager
async def copying(
    folder: RunFolder,
    kernel_spec: KernelSpec,
    make_contents: Callable[[str], Contents],
    *,
    warn: Callable[[str], None],
) -> AsyncIterator[ServerCopy | None]:
    """The same as a context that closes it."""
    copy = server_copy(folder, kernel_spec, make_contents, warn=warn)
    try:
        yield copy
    finally:
        if copy is not None:
            await copy.close()
