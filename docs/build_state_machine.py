"""Write the tables and diagrams of docs/protocol/state-machine.md anew from the code's table.

Run from anywhere, in an environment that has the project: python docs/build_state_machine.py
"""

from __future__ import annotations

from pathlib import Path

from notebook_bcc.fsm.diagram import fill_document

PAGE = Path(__file__).parent / "protocol" / "state-machine.md"


def main() -> None:
    """Change the page only between its markers."""
    PAGE.write_text(fill_document(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
