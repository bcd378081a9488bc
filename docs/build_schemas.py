"""Write docs/schemas/*.json from the models. Run: python docs/build_schemas.py"""

from __future__ import annotations

import json
from pathlib import Path

from notebook_bcc.protocol.schemas import message_schemas

FOLDER = Path(__file__).parent / "schemas"


def schema_files() -> dict[str, str]:
    """File name -> content, for every message."""
    return {
        f"{name}.json": json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
        for name, schema in message_schemas().items()
    }


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    files = schema_files()
    for old in FOLDER.glob("*.json"):
        if old.name not in files:
            old.unlink()
    for name, content in files.items():
        (FOLDER / name).write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
