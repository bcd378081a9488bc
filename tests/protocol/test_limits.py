"""Which limits there are, and that everybody who deals with all of them knows them all."""

from __future__ import annotations

from notebook_bcc.cli.options.model import budgets_given
from notebook_bcc.cli.options.run import limits_given
from notebook_bcc.engine.state import RunState
from notebook_bcc.protocol.limits import STOPPING_LIMITS, Limits
from notebook_bcc.runs.lifecycle import used_of_limits

# Nobody has asked to set these from the command line.
WITHOUT_OPTION = {"actions_per_behavior", "output_bytes", "kernel_restarts", "debug_attempts"}


def test_without_stops_every_limit_that_stops_a_run_is_off_and_the_others_stay() -> None:
    limits = Limits(**dict.fromkeys(Limits.model_fields, 7))
    lifted = limits.without_stops()
    assert {name for name in Limits.model_fields if getattr(lifted, name) == 0} == set(STOPPING_LIMITS)
    assert {getattr(lifted, name) for name in Limits.model_fields.keys() - STOPPING_LIMITS} == {7}


def test_what_is_used_is_known_of_every_limit_that_stops_a_run() -> None:
    assert set(used_of_limits(RunState())) == set(STOPPING_LIMITS)


def test_every_limit_has_an_option_or_a_reason_to_have_none() -> None:
    settable = {**limits_given(1, 1, 1.0, 1.0), **budgets_given(1, 1.0, 1.0, 1)}
    assert settable.keys() | WITHOUT_OPTION == Limits.model_fields.keys()
    assert not settable.keys() & WITHOUT_OPTION
