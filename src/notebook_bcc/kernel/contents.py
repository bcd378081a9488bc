"""What is asked of a server that keeps notebooks beside its kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class StoredNotebook:
    """Which version of a notebook a server has. `hash` is empty where it computes none."""

    last_modified: str
    hash: str = ""


class Contents(Protocol):
    """The notebooks of one server. Paths are relative to its root, with slashes.

    Every method raises NotebookFailed where the server cannot be reached, refuses the token, or refuses the path.
    """

    @property
    def where(self) -> str:
        """The server's address, without secrets."""
        ...

    async def look(self, path: str) -> StoredNotebook | None:
        """The version that the server has now; None where it has no such file."""
        ...

    async def read(self, path: str) -> dict[str, Any] | None:  # Any: JSON
        """The content of a notebook, its lines joined; None where there is no notebook."""
        ...

    async def write(self, path: str, content: dict[str, Any]) -> StoredNotebook:  # Any: JSON
        """Put a notebook in the place of what is there, and tell which version that is."""
        ...

    async def close(self) -> None: ...
