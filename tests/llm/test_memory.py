"""What the planner keeps between requests: the newest, and no more than that."""

from __future__ import annotations

from typing import Any

from notebook_bcc.llm.memory import Newest, PlannerMemory
from notebook_bcc.llm.progress import Round
from notebook_bcc.protocol.messages import Request


def request(behavior: str, *, expected: tuple[str, ...] = ()) -> Request:
    outputs = {"expected": list(expected)}
    location: dict[str, Any] = {  # Any: JSON
        "current": {"behavior_id": behavior},
        "progress": {"behaviors": {"completed": [], "current_outputs": outputs}},
    }
    return Request.parse({"observation": {"location": location}})


def test_only_the_newest_are_kept() -> None:
    kept: Newest[int] = Newest()
    for number in range(100):
        kept.put(f"{number}", number)
        kept.put("always", number)
    assert (kept.get("0"), kept.get("99"), kept.get("always"), kept.get(None)) == (None, 99, 99, None)
    assert len(list(kept.others("always"))) == 63
    assert (kept.pop("99"), kept.pop("99")) == (99, None)


def test_tries_are_kept_by_what_was_tried() -> None:
    memory = PlannerMemory()
    first, second = Round(code="a = 1"), Round(code="a = 2")
    assert memory.rounds("b") == ()
    assert memory.note("b", first) == (first,)
    assert memory.note("b", second) == (first, second)
    assert memory.rounds("another") == ()


def test_code_of_another_behavior_is_noticed_unless_something_was_promised() -> None:
    memory = PlannerMemory()
    memory.note("one", Round(code="table.head()"))
    memory.note("two", Round(code="table.head()  # again"))
    memory.note("three", Round(code="table.tail()"))
    assert memory.repeats(request("two"))
    assert not memory.repeats(request("three"))
    assert not memory.repeats(request("four"))
    assert not memory.repeats(request("two", expected=("n",)))
