"""What the outside asks for, as one frozen value: command line over environment over `.env` over defaults.

Every value remembers where it came from, so that a message about it can name the place to change.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from notebook_bcc.errors import SettingsInvalid
from notebook_bcc.lifecycle.run_names import DEFAULT_RUNS
from notebook_bcc.protocol.addresses import without_credentials
from notebook_bcc.protocol.secret_variables import MODEL_KEYS, TOKENS
from notebook_bcc.protocol.vocabulary import Language

SECRETS: Final = frozenset(TOKENS)

DEFAULT: Final = "default"
ENVIRONMENT: Final = "environment"
ENV_FILE: Final = ".env"

# Where a field's option is called otherwise than the field.
_FLAGS: Final[Mapping[str, str]] = {
    "max_execution_steps": "--max-actions",
    "interactive_mode": "--interactive",
    "backend_base_url": "--kernel-url",
    "use_remote_execution": "--kernel-url",
    "dslc_token": "--token-file",
    "backend_token": "--token-file",
}
_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off", ""})
_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
_LINE = re.compile(r"\s*(?:export\s+)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)\s*=(?P<value>.*)")
_QUOTED = re.compile(r"""(?P<quote>["'])(?P<text>.*)(?P=quote)\s*(?:#.*)?""")


@dataclass(frozen=True, slots=True)
class Settings:
    """What the user wants. `sources` names, for each field, where its value came from."""

    runs: Path = DEFAULT_RUNS
    log_level: str = "WARNING"
    max_execution_steps: int = 0
    interactive_mode: bool = False
    dslc_base_url: str = "http://localhost:28600"
    backend_base_url: str = "http://localhost:18600"
    notebook_id: str = ""
    use_remote_execution: bool = False
    dslc_token: str = field(default="", repr=False)
    backend_token: str = field(default="", repr=False)
    dslc_timeout: float = 310.0
    kernel_idle: float = 1800.0
    lang: Language = "en"
    sources: Mapping[str, str] = field(default_factory=dict)

    def source_of(self, name: str) -> str:
        """Where the value of a field came from: a flag, `environment`, `.env` or `default`."""
        return self.sources.get(name, DEFAULT)


def read_settings(
    *,
    flags: Mapping[str, Any] | None = None,  # Any: values the command line has parsed already
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Settings:
    """Read everything once. A flag that is None was not given. Raises SettingsInvalid naming variable and source."""
    given = os.environ if environment is None else environment
    written = _env_file((folder or Path.cwd()) / ENV_FILE)
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for name, (variable, parse) in _VARIABLES.items():
        flag = (flags or {}).get(name)
        if flag is not None:
            values[name], sources[name] = flag, _FLAGS.get(name, f"--{name.replace('_', '-')}")
        elif variable in given:
            values[name], sources[name] = _parsed(parse, given[variable], variable, ENVIRONMENT), ENVIRONMENT
        elif variable in written:
            values[name], sources[name] = _parsed(parse, written[variable], variable, ENV_FILE), ENV_FILE
    if "lang" not in values and (place := _chinese_locale(given)):
        values["lang"], sources["lang"] = "zh", place
    return Settings(**values, sources=sources)


def read_model_keys(environment: Mapping[str, str] | None = None) -> Mapping[str, str]:
    """The keys of language models, from the environment only: a file in the folder may be passed on with the folder."""
    given = os.environ if environment is None else environment
    return {name: given[name] for name in MODEL_KEYS.values() if name in given}


def variables() -> Mapping[str, str]:
    """Which variable of the environment or of `.env` each field is read from."""
    return {name: variable for name, (variable, _) in _VARIABLES.items()}


def read_address(text: str, *, option: str) -> str:
    """The address that was given to an option. Raises SettingsInvalid, also for one with a password in it: whoever
    lists the processes of this machine would see it."""
    try:
        address = _url(text)
    except ValueError as error:
        raise SettingsInvalid(f"{option} {mask_password(text)!r} cannot be used: {error}") from error
    if address != without_credentials(address):
        raise SettingsInvalid(f"{option} {mask_password(text)!r} holds credentials: give the token in the environment")
    return address


def read_token(path: Path) -> str:
    """The token in a file, without the white space around it. Raises SettingsInvalid."""
    try:
        token = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a text"
        raise SettingsInvalid(f"token file {path} cannot be read: {reason or error}") from error
    if not token:
        raise SettingsInvalid(f"token file {path} is empty")
    return token


def mask_password(address: str) -> str:
    """The address with everything hidden that may be a secret."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return address
    if not parts.netloc:
        return address
    user, at, host = parts.netloc.rpartition("@")
    query = "?***" if parts.query else ""
    return f"{parts.scheme}://{'***' + at if user else ''}{host}{parts.path}{query}"


def _chinese_locale(environment: Mapping[str, str]) -> str:
    """The variable that says the user reads Chinese, or an empty text; the first one set decides, as in POSIX."""
    name = next((name for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environment.get(name)), "")
    return name if name and environment[name].casefold().startswith("zh") else ""


def _parsed(parse: Callable[[str], Any], text: str, variable: str, source: str) -> Any:  # Any: the field's own type
    try:
        return parse(text.strip())
    except ValueError as error:
        raise SettingsInvalid(f"{variable}={mask_password(text)!r} (from {source}) cannot be used: {error}") from error


def _env_file(path: Path) -> dict[str, str]:
    """What the file sets; the last line of a name counts. Lines that set nothing belong to others and are passed over.

    A folder of that name (some virtual environments) is no settings file.
    """
    try:
        text = path.read_text(encoding="utf-8-sig", errors="replace")
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        return {}
    except OSError as error:
        raise SettingsInvalid(f"{path} cannot be read: {error.strerror or error}") from error
    found = (_LINE.fullmatch(line) for line in text.splitlines())
    return {line["name"]: _unquoted(line["value"].strip()) for line in found if line is not None}


def _unquoted(value: str) -> str:
    quoted = _QUOTED.fullmatch(value)
    if quoted is not None:
        return quoted["text"]
    # As shells do: a comment starts at the beginning of a word, so `a#b` is a value.
    return re.sub(r"(?:^|(?<=\s))#.*", "", value).rstrip()


def _flag(text: str) -> bool:
    if text.casefold() in _TRUE:
        return True
    if text.casefold() in _FALSE:
        return False
    raise ValueError("use true or false")


def _count(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        raise ValueError("use a whole number, 0 for no limit") from None
    if number < 0:
        raise ValueError("use 0 (no limit) or a positive number")
    return number


def _idle(text: str) -> float:
    return 0.0 if text == "0" else _seconds(text)


def _seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise ValueError("use a number of seconds")
    return number


def _level(text: str) -> str:
    name = {"WARN": "WARNING"}.get(text.upper(), text.upper())
    if name not in _LEVELS:
        raise ValueError(f"use one of {', '.join(_LEVELS)}")
    return name


def _url(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("use an address such as http://localhost:28600")
    return text.rstrip("/")


def _folder(text: str) -> Path:
    if not text:
        raise ValueError("use the path of a folder")
    return Path(text).expanduser()


def _language(text: str) -> str:
    if text not in ("en", "zh"):
        raise ValueError("use en or zh")
    return text


_VARIABLES: Final[Mapping[str, tuple[str, Callable[[str], Any]]]] = {
    "runs": ("NBCC_RUNS", _folder),
    "log_level": ("LOG_LEVEL", _level),
    "max_execution_steps": ("MAX_EXECUTION_STEPS", _count),
    "interactive_mode": ("INTERACTIVE_MODE", _flag),
    "dslc_base_url": ("DSLC_BASE_URL", _url),
    "backend_base_url": ("BACKEND_BASE_URL", _url),
    "notebook_id": ("NOTEBOOK_ID", str),
    "use_remote_execution": ("USE_REMOTE_EXECUTION", _flag),
    "dslc_token": (TOKENS["dslc_token"], str),
    "backend_token": (TOKENS["backend_token"], str),
    "dslc_timeout": ("DSLC_TIMEOUT", _seconds),
    "kernel_idle": ("NBCC_KERNEL_IDLE", _idle),
    "lang": ("NBCC_LANG", _language),
}
