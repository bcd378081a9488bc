"""The double: a kernel without a process, for tests and for trying things out. Deterministic and fast."""

from __future__ import annotations

import ast
import contextlib
import io
import traceback
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

from notebook_bcc.errors import KernelDied, KernelStartFailed
from notebook_bcc.kernel.checkpoints import read_loaded, read_saved
from notebook_bcc.kernel.inside.checkpoint import Checkpoints
from notebook_bcc.kernel.inside.probe import Namespace
from notebook_bcc.kernel.inside.sameness import same
from notebook_bcc.kernel.inspection import read_changes
from notebook_bcc.kernel.interface import CellError, Execution, KernelIdentity, LoadedCheckpoint, SavedCheckpoint
from notebook_bcc.kernel.outputs import error_output
from notebook_bcc.protocol.cells import Output

Script = Mapping[str, Execution] | Callable[[str], Execution]


class ScriptedKernel:
    """Implements `Kernel`. With a script, a cell's source decides its Execution; without one, cells are really run,
    by `exec` in this process (no magics, no time limit, no top-level await).

    `dies_at` names executions, counted from 1 over all restarts, at which the kernel dies instead of answering.
    `executed` is what it was asked to run. A source that the script does not have is a cell error `NotScripted`.
    """

    def __init__(
        self,
        script: Script | None = None,
        *,
        name: str = "scripted",
        dies_at: Collection[int] = (),
        cause: str = "killed by signal 9 (SIGKILL); often the system's out-of-memory killer",
        start_failure: str | None = None,
    ) -> None:
        self.executed: list[str] = []
        self.interrupts = 0
        self._script = script
        self._identity = KernelIdentity(
            name=name, display_name="Scripted", language="python", language_version="3.11", file_extension=".py"
        )
        self._dies_at = frozenset(dies_at)
        self._cause = cause
        self._start_failure = start_failure
        self._alive = False
        self._death: str = "it has not been started, or was closed"
        self._clear()

    @property
    def identity(self) -> KernelIdentity:
        return self._identity

    @property
    def is_alive(self) -> bool:
        return self._alive

    async def start(self) -> None:
        if self._start_failure is not None:
            raise KernelStartFailed(kernel=self._identity.name, reason=self._start_failure)
        self._clear()
        self._alive = True

    async def execute(
        self, source: str, *, time_limit: float | None = None, on_output: Callable[[Output], None] | None = None
    ) -> Execution:
        self._require_alive()
        self.executed.append(source)
        if len(self.executed) in self._dies_at:
            self._alive, self._death = False, self._cause
            raise KernelDied(cause=self._cause)
        self._count += 1
        execution = self._run(source) if self._script is None else self._play(source)
        if on_output is not None:
            for output in execution.outputs:
                on_output(output)
        return execution

    async def summarize(self, wanted: Mapping[str, str]) -> dict[str, Any]:
        self._require_alive()
        return self._namespace.summarize(dict(wanted))

    async def save_checkpoint(self, path: str, *, seconds: float) -> SavedCheckpoint:
        self._require_alive()
        return read_saved(self._checkpoints.save(path, seconds, self._count + 1))

    async def load_checkpoint(self, path: str, *, digest: str, versions: Mapping[str, str]) -> LoadedCheckpoint:
        self._require_alive()
        found = self._checkpoints.load(path, digest, dict(versions))
        self._count = found.get("count", 1) - 1
        return read_loaded({**found, "variables": self._namespace.changes()["updated"]})

    async def interrupt(self) -> None:
        self.interrupts += 1

    async def restart(self) -> None:
        await self.close()
        await self.start()

    async def close(self) -> None:
        self._alive = False
        self._death = "it has not been started, or was closed"

    def _clear(self) -> None:
        self._names: dict[str, Any] = {"__name__": "__main__"}
        self._namespace = Namespace(self._names, max_items=200, max_chars=8_000, max_summary=4_000)
        self._checkpoints = Checkpoints(
            self._names, module=Checkpoints.__module__, is_own=self._namespace.is_own, same=same
        )
        self._count = 0

    def _require_alive(self) -> None:
        if not self._alive:
            raise KernelDied(cause=self._death)

    def _play(self, source: str) -> Execution:
        assert self._script is not None
        execution = self._script(source) if callable(self._script) else self._script.get(source)
        if execution is None:
            error = CellError("NotScripted", f"the script has no cell {source!r}")
            return Execution(outputs=(error_output(error),), error=error, execution_count=self._count)
        self._names.update(execution.variables.updated)
        for name in execution.variables.removed:
            self._names.pop(name, None)
        self._namespace.changes()
        return execution if execution.execution_count is not None else replace(execution, execution_count=self._count)

    def _run(self, source: str) -> Execution:
        printed, complained = io.StringIO(), io.StringIO()
        error: CellError | None = None
        result: Any = None
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(complained):
            try:
                result = _run_cell(source, self._names, self._count)
            except (Exception, SystemExit) as raised:  # noqa: BLE001  a cell may raise anything, and that is data
                error = _read_exception(raised)
        outputs: list[Output] = [
            {"output_type": "stream", "name": name, "text": stream.getvalue()}
            for name, stream in (("stdout", printed), ("stderr", complained))
            if stream.tell()
        ]
        if result is not None:
            data = {"data": {"text/plain": repr(result)}, "metadata": {}}
            outputs.append({"output_type": "execute_result", **data, "execution_count": self._count})
        if error is not None:
            outputs.append(error_output(error))
        variables = read_changes(self._namespace.changes())
        return Execution(outputs=tuple(outputs), error=error, execution_count=self._count, variables=variables)


def _run_cell(source: str, names: dict[str, Any], count: int) -> Any:
    """Run a cell; the value of its last line when that is an expression."""
    tree = ast.parse(source, filename=f"<cell {count}>")
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, f"<cell {count}>", "exec"), names)
    if not isinstance(last, ast.Expr):
        return None
    return eval(compile(ast.Expression(last.value), f"<cell {count}>", "eval"), names)


def _read_exception(raised: BaseException) -> CellError:
    # Without the frames of this module: a cell's traceback begins in the cell.
    frames = raised.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename == __file__:
        frames = frames.tb_next
    lines = traceback.format_exception(type(raised), raised, frames)
    return CellError(type(raised).__name__, str(raised), tuple(line.rstrip("\n") for line in lines))
