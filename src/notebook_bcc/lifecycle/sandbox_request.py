"""What a person asks of a sandbox. It imports nothing heavy: every command with such an option loads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

SandboxChoice = Literal["auto", "bubblewrap", "landlock", "off"]


@dataclass(frozen=True, slots=True)
class SandboxRequest:
    """What a person said about a sandbox. None: nothing."""

    choice: SandboxChoice | None = None
    allow_net: bool = False


NO_REQUEST: Final = SandboxRequest()
