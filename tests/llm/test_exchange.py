"""What is kept of an exchange: no key, no text without bounds, nothing that a journal cannot hold."""

from __future__ import annotations

import pytest

from engine.play import play
from llm.fake_chat import FakeChat, written
from llm.test_planner import GOOD, Company
from notebook_bcc.journal.encoding import decode_record, encode_record
from notebook_bcc.journal.records import ActionReceived, GeneratingAsked, ModelAsked, Warned
from notebook_bcc.llm.client import Account, Asker
from notebook_bcc.llm.exchange import LONGEST_TEXT, cut, kept
from notebook_bcc.llm.providers.prices import Prices
from notebook_bcc.planners.model_exchange import AsksModels, ChatMessage, ModelExchange
from notebook_bcc.protocol.limits import Budget, Call, Spent

pytestmark = pytest.mark.anyio

NO_PRICES = Prices("today", "", {})


def exchange(prompt: str, answer: str, failure: str = "") -> ModelExchange:
    return ModelExchange("fake:model", "generate", None, (ChatMessage("user", prompt),), answer, None, 0.1, failure)


def test_keys_are_taken_out_wherever_they_are() -> None:
    found = kept(exchange("is sk-12345 yours?", "sk-12345!", "HTTP 401: sk-12345"), secrets=["sk-12345"])
    assert "sk-12345" not in str(found)
    assert found.answer == "***!"


def test_a_long_text_keeps_its_beginning_and_its_end() -> None:
    text = "begin" + "x" * 100_000 + "end"
    short = cut(text)
    assert short.startswith("begin")
    assert short.endswith("end")
    assert f"[... {len(text) - LONGEST_TEXT} characters cut ...]" in short
    assert cut("x" * LONGEST_TEXT) == "x" * LONGEST_TEXT


async def test_an_answer_that_no_file_can_hold_is_kept_all_the_same() -> None:
    company = Company([written("n = 1").replace("n = 1", "n = '\ud800'"), GOOD])
    played = await company.run()
    for record in played.records(ModelAsked):
        assert decode_record("model_asked", encode_record(record)) == record


async def test_an_exchange_stands_before_what_came_of_it_and_behind_the_question() -> None:
    played = await Company([GOOD]).run()
    kinds = [type(entry.record) for entry in played.entries]
    assert kinds.index(GeneratingAsked) < kinds.index(ModelAsked)
    assert kinds.count(ModelAsked) == 1
    assert ActionReceived in kinds


async def test_a_failed_try_is_kept_with_its_reason_before_the_warning() -> None:
    played = await Company(["nonsense"]).run()
    kinds = [type(entry.record) for entry in played.entries]
    assert kinds.count(ModelAsked) == 2
    assert kinds.index(ModelAsked) < kinds.index(Warned)


async def test_an_answer_that_is_given_up_in_the_middle_is_kept_and_counted() -> None:
    company = Company([GOOD + " " * 5_000])
    played = await play(company.planner, until=ActionReceived)
    # The run was torn away: what had not reached the journal is with the planner.
    left = company.planner.taken_exchanges()
    assert len(left) + len(played.records(ModelAsked)) == 1
    assert company.account.spent.calls == 1


async def test_what_was_not_taken_yet_counts_on_top_of_what_the_run_knows() -> None:
    account = Account(budget=Budget(), prices=NO_PRICES)
    asker = Asker(FakeChat(["{}"]), account, timeout=5.0)
    await asker.ask("judge", [ChatMessage("user", "?")], schema={}, max_tokens=5, request_id=None)
    account.allow(Budget(calls=3), Spent(calls=1))
    assert account.spent.calls == 2
    assert [one.took for one in account.taken()] == [Call(100, 20, None, counted=True, seconds=account.spent.seconds)]
    account.allow(Budget(calls=3), Spent(calls=2))
    assert account.spent.calls == 2


def test_only_planners_with_models_are_asked_about_them() -> None:
    company = Company([GOOD])
    assert isinstance(company.planner, AsksModels)
    assert not isinstance(company, AsksModels)
