"""When a run repeats itself."""

from __future__ import annotations

from notebook_bcc.llm.progress import Round, code_shape, error_shape, rounds_of, stuck
from notebook_bcc.protocol.messages import Request
from notebook_bcc.protocol.observation import Context, Current, Effects, LevelProgress, Location, Observation, Progress
from notebook_bcc.protocol.tracking import CompletedItem

ERROR = "Traceback (most recent call last)\n  File '/tmp/x.py', line {0}\nKeyError: 'column {0} at 0x{0}'"


def test_the_same_code_is_the_same_whatever_its_layout() -> None:
    assert code_shape("x = 1  # first\n\ny  =  2") == code_shape("# other\nx = 1\ny = 2\n")
    assert code_shape("x = 1") != code_shape("x = 2")
    assert code_shape("x = (") == code_shape("x  = (")


def test_the_same_error_is_the_same_whatever_its_numbers() -> None:
    assert error_shape(ERROR.format(12)) == error_shape(ERROR.format(7))
    assert error_shape("ValueError: a") != error_shape("ValueError: b")


def test_different_tries_are_progress() -> None:
    rounds = [Round(code=f"x = {n}", error=f"KeyError: {'abcdef'[n]}", plan="abcdef"[n]) for n in range(6)]
    assert stuck(rounds) is None
    assert stuck([]) is None


def test_the_same_code_with_the_same_error_is_stuck_the_second_time() -> None:
    found = stuck([Round(code="x", error="E: y")] * 2)
    assert found is not None
    assert (found.kind, found.times) == ("code", 2)


def test_the_same_error_from_other_code_is_stuck_when_patience_ends() -> None:
    rounds = [Round(code=f"x = {n}", error="KeyError: 'a'") for n in range(3)]
    assert stuck(rounds[:2]) is None
    found = stuck(rounds)
    assert found is not None
    assert str(found) == "no progress: the same error 3 times in a row"


def test_the_same_plan_is_stuck_when_patience_ends() -> None:
    rounds = [Round(plan="Count the rows"), Round(plan="count  the rows"), Round(plan=" COUNT the rows")]
    found = stuck(rounds)
    assert found is not None
    assert found.kind == "plan"
    assert stuck(rounds, patience=4) is None


def test_what_is_not_known_repeats_nothing() -> None:
    assert stuck([Round()] * 10) is None
    assert stuck([Round(error="E: x")] * 3 + [Round(error="")]) is None


def test_rounds_are_read_from_an_observation() -> None:
    missed = CompletedItem(behavior_id="b", goal="Count", missing_outputs=("n",), achieved=False)
    done = CompletedItem(behavior_id="b", goal="Load", achieved=True)
    progress = Progress(behaviors=LevelProgress(completed=(done, missed, missed, missed)))
    effects = Effects(current=("fine", "KeyError: 'a'"))
    request = Request(
        observation=Observation(
            location=Location(current=Current(), progress=progress), context=Context(effects=effects)
        )
    )
    rounds = rounds_of(request)
    assert [bool(one.error) for one in rounds] == [False, False, True]
    found = stuck(rounds)
    assert found is not None
    assert found.kind == "plan"
