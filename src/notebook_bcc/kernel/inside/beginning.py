"""Shortens what lies between a cell's arrival and its first statement. Its source is sent there, like the probe's.

For each cell IPython looks for magics with a tokenizer written in Python, and asks the compiler whether the cell
awaits, both of them twice; ipykernel reads a function's signature and hashes the text in Python, and it reads each
message twice, the first time only for the id of a subshell. A cell of 25 lines waits 12 ms for all that.

Most cells are plain Python. What Python can parse holds no magic, and it has to be parsed anyway: so that is done
first, and once. What only looks plain, and what we do not know, goes the usual way.
"""

from __future__ import annotations

import inspect
import os
import zlib
from collections.abc import Callable
from functools import wraps
from typing import Any

# Prompts that IPython takes off copied text, and that Python may take for an ellipsis, a comparison or a subscript.
_PROMPTS = ("...", ">>>", "In [")


def begin_sooner(shell: Any) -> None:
    """Prepare a shell. One that we do not know begins its cells as ever."""
    try:
        beginning = Beginning(shell)
    except AttributeError:
        return
    beginning.install()


class Beginning:
    """Stands before the methods of a shell that prepare a cell, and keeps the last plain one until it is run."""

    def __init__(self, shell: Any) -> None:
        """Raises AttributeError for a shell that is not made as we know it. Nothing is changed yet."""
        self._shell, self._compiler = shell, shell.compile
        self._transform, self._is_async = shell.transform_cell, shell.should_run_async
        self._parse, self._name_cell = shell.compile.ast_parse, shell.compile.get_code_name
        self._run, self._prefilter, self._trap = shell.run_cell_async, shell.prefilter_manager, shell.builtin_trap
        self._manager = shell.input_transformer_manager
        self._usual = _transformers(type(self._manager)())
        self._is_changed()
        self._passing, self._quieten = _passing(shell.kernel), _quieten(shell.kernel)
        self._raw: str | None = None
        self._text: str | None = None
        self._name = ""
        self._tree: Any = None

    def install(self) -> None:
        shell, compiler = self._shell, self._compiler
        compiler.get_code_name = self._name_cell = _naming(self._name_cell)
        compiler.ast_parse = self.ast_parse
        shell.transform_cell, shell.should_run_async = self.transform_cell, self.should_run_async
        shell.run_cell_async = _with_signature(self._run)
        self._passing()
        self._quieten()

    def transform_cell(self, raw_cell: str) -> str:
        """The cell as it is to be run. It is asked for twice."""
        if self._is_changed():
            self._forget()
        elif raw_cell is self._raw and self._text is not None:
            return self._text
        else:
            self._read(raw_cell)
        if self._text is not None:
            return self._text
        transformed: str = self._transform(raw_cell)
        return transformed

    def should_run_async(
        self, raw_cell: str, *, transformed_cell: str | None = None, preprocessing_exc_tuple: Any = None
    ) -> bool:
        """Whether the cell awaits. It is asked for twice."""
        if transformed_cell is not None and transformed_cell is self._text and not _may_await(transformed_cell):
            return False
        awaits: bool = self._is_async(
            raw_cell, transformed_cell=transformed_cell, preprocessing_exc_tuple=preprocessing_exc_tuple
        )
        return awaits

    def ast_parse(self, source: str, filename: str = "<unknown>", symbol: str = "exec") -> Any:
        """What was parsed, once: whoever gets it may change it."""
        known = (self._text, self._name, "exec") == (source, filename, symbol)
        tree = self._tree
        self._forget()
        return tree if known and tree is not None else self._parse(source, filename, symbol)

    def _read(self, raw_cell: str) -> None:
        self._forget()
        text = raw_cell if raw_cell.endswith("\n") else raw_cell + "\n"
        if not is_usual(text):
            return
        name = self._name_cell(raw_cell, text, self._shell.execution_count)
        try:
            tree = self._parse(text, name, "exec")
        except (SyntaxError, ValueError, TypeError, OverflowError, MemoryError, RecursionError):
            return
        if self._is_call(text):
            return
        self._raw, self._text, self._name, self._tree = raw_cell, text, name, tree

    def _is_call(self, text: str) -> bool:
        """Whether a single line calls something without brackets, which the names that exist decide."""
        if text.find("\n") < len(text) - 1:
            return False
        if self._shell.autocall:
            # It tells what it makes of the line, each time that it is asked.
            return True
        with self._trap:
            return bool(self._prefilter.prefilter_lines(text) + "\n" != text)

    def _forget(self) -> None:
        self._raw = self._text = self._tree = None

    def _is_changed(self) -> bool:
        """Whether somebody has put transformers of their own to work."""
        return bool(self._shell.input_transformers_post) or _transformers(self._manager) != self._usual


def is_usual(text: str) -> bool:
    """Whether IPython runs this text as it is, provided that it is Python and no call without brackets."""
    lines = text.splitlines()
    # Lines that end with something else than a newline are not the same lines for IPython and for Python. Indentation
    # that all lines have is taken off, and that of blank ones.
    if len(lines) != text.count("\n") or text[0].isspace() or any(map(str.isspace, lines)):
        return False
    return not any(prompt in text for prompt in _PROMPTS)


def _may_await(text: str) -> bool:
    return "await" in text or "async" in text


def _transformers(manager: Any) -> list[list[Any]]:
    return [list(manager.cleanup_transforms), list(manager.line_transforms), list(manager.token_transformers)]


def _with_signature(function: Any) -> Any:
    """The same function, with its signature at hand."""

    def known(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    known.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    return known


def _naming(usual: Any) -> Any:
    """Names of cells for tracebacks, in the usual folder. The usual number in them is for a debugger: there is none."""
    folder = os.path.dirname(usual("", "", 0))
    if usual("a", "a", 0) == usual("b", "b", 0):
        # Somebody wants one name for all cells.
        return usual

    def name(raw_code: str, _code: str, _number: int) -> str:
        return os.path.join(folder, f"{zlib.crc32(raw_code.encode('utf-8', 'surrogatepass'))}.py")

    return name


def _passing(kernel: Any) -> Callable[[], None]:
    """Lets messages through to the main thread unread: only we talk to this kernel, and want no subshells."""
    thread = getattr(kernel, "shell_channel_thread", None)
    if thread is None:
        # Before ipykernel 7 the main thread reads them itself.
        return lambda: None
    main, stream, loop = thread.manager.get_shell_channel_to_subshell_socket(None), kernel.shell_stream, thread.io_loop

    def listen() -> None:
        stream.on_recv(lambda message: main.send_multipart(message, copy=False), copy=False)

    # In the thread that reads from it.
    return lambda: loop.add_callback(listen)


def _quieten(kernel: Any) -> Callable[[], None]:
    """Does not tell the text of each cell to all who listen: to us, who have sent it."""
    usual = kernel._publish_execute_input

    @wraps(usual)
    def untold(*_: Any) -> None:
        return None

    return lambda: setattr(kernel, usual.__name__, untold)
