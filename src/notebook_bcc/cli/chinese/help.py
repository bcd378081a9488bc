"""`--help` in Chinese: the same commands and options, with lines that are broken where Chinese may be broken."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from typing import Any, Final

from rich.cells import cell_len
from typer.core import TyperCommand, TyperGroup

from notebook_bcc.cli.chinese.texts import read_texts

_WIDEST: Final = 100
_NAMES: Final = 30
# A word of Latin letters, or one other character: lines may be broken between any two of these.
_PIECE: Final = re.compile(r"[!-~]+|[^!-~]")
# What must not stand at the beginning of a line.
_CLOSING: Final = frozenset("，。；：、！？）】》”’]")
_VERBATIM: Final = "\\b"
# What the library writes behind the text of an option.
_EXTRAS: Final = (("default: ", "默认："), ("required", "必填"), ("env var: ", "环境变量："))


class ChineseCommand(TyperCommand):
    """A command whose help is Chinese."""

    def get_help(self, ctx: Any) -> str:  # Any: the library's own context class has no public name
        return _help(self, ctx)

    def get_usage(self, ctx: Any) -> str:  # Any: as above
        return _usage(self, ctx)


class ChineseGroup(TyperGroup):
    """A group of commands whose help is Chinese."""

    def get_help(self, ctx: Any) -> str:  # Any: as above
        return _help(self, ctx)

    def get_usage(self, ctx: Any) -> str:  # Any: as above
        return _usage(self, ctx)


def help_texts() -> Mapping[str, Any]:  # Any: as the file has it
    """Commands, options and exit codes."""
    return read_texts("help.yaml")


def _help(command: TyperCommand | TyperGroup, ctx: Any) -> str:
    texts, width = help_texts(), min(_WIDEST, shutil.get_terminal_size().columns)
    name = command.name if ctx.parent is not None else "nbcc"
    parts = [_usage(command, ctx), *_paragraphs(texts["commands"][name]["help"], width)]
    if ctx.parent is None:
        parts[-1] += "".join(f"\n{code:>5}  {meaning}" for code, meaning in texts["exit_codes"].items())
    shown = [one for one in command.get_params(ctx) if one.get_help_record(ctx) is not None]
    for title, kind in (("参数", "argument"), ("选项", "option")):
        rows = [_row(one, ctx) for one in shown if one.param_type_name == kind]
        parts += [f"{title}：\n" + "\n".join(_table(rows, width))] if rows else []
    if isinstance(command, TyperGroup):
        names = [one for one in command.list_commands(ctx) if not command.commands[one].hidden]
        rows = [(one, texts["commands"][one]["summary"]) for one in names]
        parts.append("命令：\n" + "\n".join(_table(rows, width)))
    return "\n\n".join(parts)


def _usage(command: TyperCommand | TyperGroup, ctx: Any) -> str:
    return " ".join(["用法：", ctx.command_path, *command.collect_usage_pieces(ctx)])


def _row(parameter: Any, ctx: Any) -> tuple[str, str]:  # Any: the library's own classes have no public name
    """The names of a parameter, and its text with what the library writes behind it."""
    names, whole = parameter.get_help_record(ctx)
    english = parameter.help or ""
    extra = whole.removeprefix(english).strip()
    for one, chinese in _EXTRAS:
        extra = extra.replace(one, chinese)
    return names, f"{help_texts()['options'].get(english, english)}{extra}"


def _paragraphs(text: str, width: int) -> Iterator[str]:
    for paragraph in text.rstrip().split("\n\n"):
        first, _, rest = paragraph.partition("\n")
        yield rest if first == _VERBATIM else "\n".join(wrapped(paragraph.replace("\n", ""), width))


def _table(rows: list[tuple[str, str]], width: int) -> Iterator[str]:
    first = min(_NAMES, max(cell_len(names) for names, _ in rows)) + 4
    for names, text in rows:
        lines = list(wrapped(text, width - first))
        head = f"  {names}"
        if cell_len(head) > first - 2:
            yield head
            head = ""
        yield f"{head:<{first}}{lines[0] if lines else ''}".rstrip()
        yield from (f"{'':<{first}}{line}" for line in lines[1:])


def wrapped(text: str, width: int) -> Iterator[str]:
    """The text in lines of at most this width on a screen, where a Chinese character takes two places."""
    line, used = "", 0
    for piece in _PIECE.findall(text):
        size = cell_len(piece)
        if line and used + size > width and piece not in _CLOSING:
            yield line.rstrip()
            line, used = "", 0
            piece = piece.lstrip()
            size = cell_len(piece)
        line, used = line + piece, used + size
    if line.strip():
        yield line.rstrip()
