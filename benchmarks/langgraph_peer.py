"""The peer that keeps a run durable: LangGraph with its SQLite checkpointer, every step on disk before the next."""

from __future__ import annotations

import operator
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypedDict

from benchmarks.harness import Figures, stopwatch

ENTRY_BYTES = 1024


def entry(number: int) -> str:
    """One kilobyte of text, different each time."""
    return f"{number:08d}".ljust(ENTRY_BYTES, "e")


class Counting(TypedDict):
    """The smallest state there is."""

    number: int


class Growing(TypedDict):
    """A state that every step makes one kilobyte larger."""

    number: int
    entries: Annotated[list[str], operator.add]


def langgraph_steps(steps: int, folder: Path, *, growing: bool) -> Figures:
    """`step`: ms per step; `bytes`: what is on disk at the end."""
    from langgraph.checkpoint.sqlite import SqliteSaver
    from langgraph.graph import END, START, StateGraph

    def count(state: Counting) -> dict[str, Any]:
        return {"number": state["number"] + 1}

    def grow(state: Growing) -> dict[str, Any]:
        return {"number": state["number"] + 1, "entries": [entry(state["number"])]}

    # One node that leads back to itself: the least a step can cost there.
    graph: Any = StateGraph(Growing if growing else Counting)
    graph.add_node("act", grow if growing else count)
    graph.add_edge(START, "act")
    again: Callable[[Counting], str] = lambda state: END if state["number"] >= steps else "act"  # noqa: E731
    graph.add_conditional_edges("act", again, ["act", END])
    path = folder / "langgraph.sqlite"
    connection = sqlite3.connect(path, check_same_thread=False)
    saver = SqliteSaver(connection)
    saver.setup()
    app = graph.compile(checkpointer=saver)
    config = {"recursion_limit": steps + 10, "configurable": {"thread_id": "1"}}
    start: dict[str, Any] = {"number": 0, "entries": []} if growing else {"number": 0}
    figures: dict[str, float] = {}
    with stopwatch(figures, "step", per=steps):
        app.invoke(start, config, durability="sync")
    kept = app.get_state(config).values
    connection.close()
    if kept["number"] != steps or (growing and len(kept["entries"]) != steps):
        raise AssertionError("LangGraph did not keep every step")
    return figures | {"bytes": float(size_of(path))}


def size_of(path: Path) -> int:
    """The bytes of a database with the files that SQLite keeps beside it."""
    return sum(part.stat().st_size for part in path.parent.glob(path.name + "*"))
