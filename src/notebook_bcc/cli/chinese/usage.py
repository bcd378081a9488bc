"""What is wrong with a command line, said in Chinese."""

from __future__ import annotations

import sys
from typing import Final

import typer
from typer.core import TyperGroup

from notebook_bcc.cli.chinese.errors import in_chinese

# Every error of the parser: its own class for them has no public name.
_USAGE_ERROR: Final[type[Exception]] = typer.BadParameter.__bases__[0]


def run_command_line(group: TyperGroup) -> int:
    """Run the command that was typed; its exit code."""
    try:
        code = group(prog_name="nbcc", standalone_mode=False)
    except typer.Abort:
        return 1
    except _USAGE_ERROR as error:
        _complain(error)
        return int(getattr(error, "exit_code", 2))
    return code if isinstance(code, int) else 0


def _complain(error: Exception) -> None:
    context = getattr(error, "ctx", None)
    if context is not None:
        hint = f"查看用法：{context.command_path} {context.help_option_names[0]}\n"
        print(f"{context.get_usage()}\n{hint}", file=sys.stderr)
    said = error.format_message() if hasattr(error, "format_message") else str(error)
    print(f"错误：{in_chinese(said)}", file=sys.stderr)
