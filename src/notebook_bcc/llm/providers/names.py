"""Names of models as people write them: `openai:NAME`, `anthropic:NAME`, or `URL#NAME` for any compatible endpoint."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from notebook_bcc.errors import SettingsInvalid
from notebook_bcc.protocol.secret_variables import MODEL_KEYS, Vendor

ADDRESSES: Final[Mapping[Vendor, str]] = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
}
_FORMS: Final = "openai:NAME, anthropic:NAME or URL#NAME, such as http://127.0.0.1:11434/v1#llama3.1"
_NAME = re.compile(r"[^\s\x00-\x1f\x7f]{1,200}")
_LOOPBACK = re.compile(r"localhost|127(\.\d{1,3}){3}|::1")


@dataclass(frozen=True, slots=True)
class ModelName:
    """A model, and where it is asked. `str()` is what was written."""

    vendor: Vendor
    name: str
    address: str

    def __str__(self) -> str:
        return f"{self.address}#{self.name}" if self.vendor == "url" else f"{self.vendor}:{self.name}"

    @property
    def is_local(self) -> bool:
        """Whether it is asked on this machine: what it is told does not leave it."""
        return _LOOPBACK.fullmatch(urlsplit(self.address).hostname or "") is not None


@dataclass(frozen=True, slots=True)
class Access:
    """A model with the key for it; an empty one where none is needed. The key is not shown."""

    model: ModelName
    key: str = field(default="", repr=False)


def parse_model(text: str) -> ModelName:
    """The model of that name. Raises SettingsInvalid, also for an address with credentials in it: it would be shown."""
    vendor, _, name = text.partition(":")
    if vendor in ("http", "https"):
        return _by_address(text)
    known: Mapping[str, Vendor] = {"openai": "openai", "anthropic": "anthropic"}
    if vendor not in known or not _NAME.fullmatch(name):
        raise SettingsInvalid(f"model {text!r} cannot be used: write {_FORMS}")
    return ModelName(vendor=known[vendor], name=name, address=ADDRESSES[known[vendor]])


def access(model: ModelName, environment: Mapping[str, str]) -> Access:
    """The model with its key, which is looked for in the environment and nowhere else. Raises SettingsInvalid."""
    variable = MODEL_KEYS[model.vendor]
    key = environment.get(variable, "").strip()
    if not key and model.vendor != "url":
        raise SettingsInvalid(f"model {model} needs a key: set {variable} in the environment")
    if not key.isascii() or any(sign.isspace() for sign in key):
        raise SettingsInvalid(f"the key in {variable} holds characters that no key has; it was not used")
    return Access(model=model, key=key)


def without_key(text: str, key: str) -> str:
    """A text from outside, with the key taken out: some servers quote it in what they say about it."""
    return text.replace(key, "***") if len(key) > 3 else text


def _by_address(text: str) -> ModelName:
    address, _, name = text.rpartition("#")
    shown = re.sub(r"//[^/@]*@", "//***@", text).partition("?")[0]
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise SettingsInvalid(f"model {shown!r} cannot be used: {error}") from error
    if not host or not _NAME.fullmatch(name):
        raise SettingsInvalid(f"model {shown!r} cannot be used: write {_FORMS}")
    if parts.username is not None or parts.query or parts.fragment:
        raise SettingsInvalid(f"model {shown!r} holds more than an address: give the key in {MODEL_KEYS['url']}")
    return ModelName(vendor="url", name=name, address=address.rstrip("/"))
