"""`nbcc fsm`: the state machine, from the table that the engine itself uses."""

from __future__ import annotations

from typing import Annotated

import typer

from notebook_bcc.fsm.diagram import mermaid, text_table


async def fsm_command(
    mermaid_: Annotated[bool, typer.Option("--mermaid", help="As a Mermaid diagram, for documents.")] = False,
) -> None:
    """Show every transition of the state machine: state, event, next state, who is responsible, and why."""
    print(mermaid() if mermaid_ else text_table())
