"""`Config`: the addresses that everything in this process talks to, as the documents promise them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Final
from urllib.parse import urlsplit

from notebook_bcc.errors import SettingsInvalid
from notebook_bcc.settings import Settings, read_settings

# The paths of the service, under the names that `get_api_config` gives their addresses.
_ENDPOINTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "feedback_api_url": "/planning",
        "behavior_api_url": "/generating",
        "generate_api_url": "/generate",
    }
)
# The documents' names for settings, beside the addresses above in capitals.
_SETTINGS: Final = (
    "dslc_base_url",
    "backend_base_url",
    "notebook_id",
    "log_level",
    "max_execution_steps",
    "interactive_mode",
    "use_remote_execution",
)
_ATTRIBUTES: Final = frozenset(name.upper() for name in (*_ENDPOINTS, *_SETTINGS))


class _Attributes(type):
    """Lets `Config.DSLC_BASE_URL` and its like say what is in force now."""

    def __getattr__(cls, name: str) -> Any:  # Any: a text, a number or a switch
        try:
            return setting(name)
        except AttributeError:
            raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}") from None

    def __setattr__(cls, name: str, value: object) -> None:
        if name in _ATTRIBUTES:
            raise AttributeError(f"{name} is read only; use set_dslc_url, set_backend_url or set_notebook_id")
        super().__setattr__(name, value)


class Config(metaclass=_Attributes):
    """Process-wide, by promise: what is set here counts for every client made or used afterwards.

    A value that is set stands above the environment, which stands above `.env`, which stands above the default.
    Environment and file are read when they are asked for, never on import. The documents' names are attributes as well:
    DSLC_BASE_URL, FEEDBACK_API_URL, BEHAVIOR_API_URL, GENERATE_API_URL, BACKEND_BASE_URL, NOTEBOOK_ID, LOG_LEVEL,
    MAX_EXECUTION_STEPS, INTERACTIVE_MODE, USE_REMOTE_EXECUTION.
    """

    # Exchanged whole, never changed: readers in other threads see the old settings or the new ones.
    _chosen: ClassVar[Mapping[str, str]] = MappingProxyType({})

    @classmethod
    def set_dslc_url(cls, url: str) -> None:
        """Use this address of the DSLC service. Raises SettingsInvalid."""
        cls._choose("dslc_base_url", _address(url))

    @classmethod
    def set_backend_url(cls, url: str) -> None:
        """Use this address of the backend that runs code. Raises SettingsInvalid."""
        cls._choose("backend_base_url", _address(url))

    @classmethod
    def set_notebook_id(cls, notebook_id: str | None) -> None:
        """Use this notebook id; None for: none."""
        cls._choose("notebook_id", notebook_id or "")

    @classmethod
    def reset(cls) -> None:
        """Forget what was set; environment, file and defaults count again."""
        Config._chosen = MappingProxyType({})

    @classmethod
    def settings(cls) -> Settings:
        """Everything in force now, with the source of each value. Raises SettingsInvalid."""
        return read_settings(flags=cls._chosen)

    @classmethod
    def get_api_config(cls) -> dict[str, Any]:
        """The addresses in force now. Raises SettingsInvalid."""
        settings = cls.settings()
        dslc = settings.dslc_base_url
        return {
            "dslc_base_url": dslc,
            **{name: dslc + path for name, path in _ENDPOINTS.items()},
            "backend_base_url": settings.backend_base_url,
            "notebook_id": settings.notebook_id or None,
            "use_remote_execution": settings.use_remote_execution,
        }

    @classmethod
    def _choose(cls, name: str, value: str) -> None:
        # On Config itself: a subclass is a name for the same process-wide setting.
        Config._chosen = MappingProxyType({**Config._chosen, name: value})


def setting(name: str) -> Any:  # Any: a text, a number or a switch
    """What a name of the documents in capitals stands for now. Raises AttributeError, SettingsInvalid."""
    if name not in _ATTRIBUTES:
        raise AttributeError(f"there is no setting {name!r}")
    settings, field = Config.settings(), name.lower()
    if field in _ENDPOINTS:
        return settings.dslc_base_url + _ENDPOINTS[field]
    value = getattr(settings, field)
    return None if value == "" else value


def _address(url: str) -> str:
    parts = urlsplit(url.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise SettingsInvalid(f"{url!r} cannot be used: use an address such as http://localhost:28600")
    return url.strip().rstrip("/")
