"""Which limits there are, and that everybody who deals with all of them knows them all."""

from __future__ import annotations

from notebook_bcc.api.options import RunOptions
from notebook_bcc.engine.state import RunState
from notebook_bcc.lifecycle.operations import used_of_limits
from notebook_bcc.protocol.limits import STOPPING_LIMITS, Limits

# Nobody has asked to set these from the command line.
WITHOUT_OPTION = {"output_bytes", "kernel_restarts", "debug_attempts"}


def test_without_stops_every_limit_that_stops_a_run_is_off_and_the_others_stay() -> None:
    limits = Limits(**dict.fromkeys(Limits.model_fields, 7))
    lifted = limits.without_stops()
    assert {name for name in Limits.model_fields if getattr(lifted, name) == 0} == set(STOPPING_LIMITS)
    assert {getattr(lifted, name) for name in Limits.model_fields.keys() - STOPPING_LIMITS} == {7}


def test_what_is_used_is_known_of_every_limit_that_stops_a_run() -> None:
    assert set(used_of_limits(RunState())) == set(STOPPING_LIMITS)


def test_every_limit_has_an_option_or_a_reason_to_have_none() -> None:
    options = RunOptions(
        max_actions=1,
        max_behaviors=1,
        max_actions_per_behavior=1,
        max_seconds=1,
        cell_timeout=1,
        max_memory=1,
        max_processes=1,
        max_disk=1,
        budget_tokens=1,
        budget_cost=1,
        budget_seconds=1,
        budget_calls=1,
    )
    settable = options.limits
    assert settable.keys() | WITHOUT_OPTION == Limits.model_fields.keys()
    assert not settable.keys() & WITHOUT_OPTION
