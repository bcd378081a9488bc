"""YAML files of other programs, read as they read them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml


def read_yaml(path: Path) -> Any:  # Any: whatever the file holds
    class Loader(yaml.SafeLoader):
        """Knows `on:`, which YAML 1.1 takes for true, as a word, and lets tags of other programs pass."""

    Loader.yaml_implicit_resolvers = {
        first: [(tag, form) for tag, form in resolvers if tag != "tag:yaml.org,2002:bool" or first not in "oO"]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda *_: None)
    return yaml.load(path.read_text(encoding="utf-8"), Loader)
