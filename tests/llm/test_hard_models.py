"""Models that fail in every way there is, behind the real libraries: each with its documented outcome."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from engine.play import Played, play, run_code, scripted, workflow
from llm.fake_chat import judged, written
from llm.fake_model import Api, FakeModel, Reply, events, in_pieces, refusal
from notebook_bcc.journal.encoding import encode_record
from notebook_bcc.journal.records import GeneratingAsked, ModelAsked, Warned
from notebook_bcc.llm.client import Account, Asker
from notebook_bcc.llm.limits import Fallback
from notebook_bcc.llm.planner import LlmPlanner
from notebook_bcc.llm.prompt.files import read_prompts
from notebook_bcc.llm.providers.prices import Prices
from notebook_bcc.llm.providers.registry import open_model
from notebook_bcc.planners.script.values import Behavior
from notebook_bcc.protocol.limits import Budget
from notebook_bcc.protocol.vocabulary import Language, State

pytest.importorskip("openai", reason="the extra `llm` is not installed")
pytest.importorskip("anthropic", reason="the extra `llm` is not installed")
pytestmark = pytest.mark.anyio

KEY = "sk-test-key-0123456789"
BY_BASE = "n0 = 'by the base'"


def said(api: Api, text: str, *, finish: str | None = "stop", piece: int = 11) -> Reply:
    """An answer whose bytes arrive in pieces that end anywhere."""
    texts = [text[at : at + 5000] for at in range(0, len(text), 5000)]
    return Reply(in_pieces(events(api, texts, finish=finish), piece if len(text) < 10_000 else 60_000))


def good(api: Api, number: int = 0) -> Reply:
    return said(api, written(f"n{number} = 40 + 2", text="We count the rows of the table."))


def by_base(number: int) -> str:
    return BY_BASE.replace("n0", f"n{number}")


@dataclass
class Company:
    """A run and the endpoints it was planned by."""

    played: Played
    model: FakeModel
    judge: FakeModel

    @property
    def completed(self) -> bool:
        return self.played.state.fsm is State.WORKFLOW_COMPLETED

    @property
    def exchanges(self) -> list[ModelAsked]:
        return self.played.records(ModelAsked)

    @property
    def warned(self) -> str:
        return " ".join(record.message for record in self.played.records(Warned))


async def ran(
    api: Api,
    *replies: Reply,
    judge: Reply | None = None,
    behaviors: int = 1,
    promised: int = 99,
    fallback: Fallback = "playbook",
    language: Language = "en",
) -> Company:
    """A whole run with a scripted kernel, planned by what the server answers."""
    wanted = [
        Behavior(
            actions=run_code(BY_BASE.replace("n0", f"n{at}")), expected=(f"n{at}",) * (at < promised), goal="Count."
        )
        for at in range(behaviors)
    ]
    async with opened(FakeModel(*replies), FakeModel(judge or good(api))) as (model, judging):
        account = Account(budget=Budget(), prices=Prices("today", "", {}), secrets=[KEY])
        planner = LlmPlanner(
            base=scripted(workflow("step"), {"step": wanted}),
            generating=Asker(open_model(model.access(api, key=KEY)), account, timeout=30.0),
            planning=Asker(open_model(judging.access(api, key=KEY)), account, timeout=30.0) if judge else None,
            prompts=read_prompts(),
            fallback=fallback,
            language=language,
        )
        try:
            played = await play(planner)
        finally:
            await planner.close()
        return Company(played, model, judging)


@contextlib.asynccontextmanager
async def opened(*fakes: FakeModel) -> AsyncIterator[tuple[FakeModel, ...]]:
    async with contextlib.AsyncExitStack() as stack:
        yield tuple([await stack.enter_async_context(fake) for fake in fakes])


apis = pytest.mark.parametrize("api", ["openai", "anthropic"])


@apis
async def test_every_exchange_is_in_the_journal_without_the_key(api: Api) -> None:
    company = await ran(api, good(api))
    assert company.completed
    assert company.played.sources == ["We count the rows of the table.", "n0 = 40 + 2"]
    (record,) = company.exchanges
    assert record.answer == written("n0 = 40 + 2", text="We count the rows of the table.")
    assert (record.task, record.input_tokens, record.output_tokens, record.dollars) == ("generate", 11, 7, None)
    assert record.request_id == company.played.records(GeneratingAsked)[0].request_id
    assert [message.role for message in record.prompt] == ["system", "user"]
    assert "Count." in record.prompt[1].content
    assert KEY not in str(company.played.entries)
    assert KEY in str(company.model.heard[0].headers), "it was sent"


@apis
async def test_a_stream_that_is_cut_in_the_middle_of_an_action_never_runs_it(api: Api) -> None:
    whole = events(api, [written("n0 = 40 + 2")])
    half = whole[: whole.index(b"40") + 2]
    company = await ran(api, Reply(in_pieces(half, 7), end="cut"), good(api))
    assert company.completed
    assert company.played.sources == ["We count the rows of the table.", "n0 = 40 + 2"]
    assert len(company.model.heard) == 2
    assert "trying again" in company.warned
    assert company.exchanges[0].failure


@apis
async def test_a_stream_that_is_cut_after_an_action_keeps_it_and_tries_what_is_missing(api: Api) -> None:
    first = written("m = 1", "n0 = 2").split('"n0')[0]
    cut = Reply(in_pieces(events(api, [first], finish=None), 13), end="cut")
    company = await ran(api, cut, good(api))
    assert company.completed
    assert company.played.sources == ["m = 1", "We count the rows of the table.", "n0 = 40 + 2"]


@apis
@pytest.mark.parametrize("status", ["429 Too Many Requests", "529 Overloaded", "503 Service Unavailable"])
async def test_a_busy_endpoint_is_asked_again_after_the_time_it_wishes(api: Api, status: str) -> None:
    busy = refusal(status, "slow down", retry_after="0")
    company = await ran(api, busy, busy, good(api))
    assert company.completed
    assert company.played.sources[-1] == "n0 = 40 + 2"
    assert len(company.model.heard) == 3
    assert status[:3] in company.warned
    assert [bool(one.failure) for one in company.exchanges] == [True, True, False]
    assert company.played.state.spent.calls == 3


@apis
async def test_an_endpoint_that_stays_busy_gives_way_and_is_not_waited_for_again_and_again(api: Api) -> None:
    company = await ran(api, refusal("529 Overloaded", "busy", retry_after="0"), behaviors=5)
    assert company.completed
    assert company.played.sources[-1] == by_base(4)
    assert sum("could not be reached" in source for source in company.played.sources) == 5
    assert len(company.model.heard) == 9, "three tries each of three behaviors; then it is left alone"


@apis
async def test_a_content_filter_is_not_asked_again(api: Api) -> None:
    company = await ran(api, said(api, "I will not", finish="content_filter"))
    assert company.completed
    assert company.played.sources[-1] == BY_BASE
    assert "declined to answer" in company.played.sources[0]
    assert len(company.model.heard) == 1


@apis
async def test_an_empty_answer_gives_way(api: Api) -> None:
    company = await ran(api, said(api, ""))
    assert company.completed
    assert company.played.sources[-1] == BY_BASE
    assert len(company.model.heard) == 1


@apis
@pytest.mark.parametrize("answer", ["x" * 1_000_000, written("n0 = '" + "x" * 1_000_000 + "'")], ids=["noise", "cell"])
async def test_an_answer_of_a_megabyte_is_refused_and_bounded_wherever_it_is_kept(api: Api, answer: str) -> None:
    company = await ran(api, said(api, answer))
    assert company.completed
    assert company.played.sources[-1] == BY_BASE
    assert len(company.model.heard) == 2
    assert len(str(company.model.heard[1].body)) < 60_000, "the model is not sent all of it again"
    for record in company.exchanges:
        assert len(encode_record(record)) < 100_000
        assert "characters cut" in record.answer


async def test_a_text_in_another_language_is_left_out_and_the_code_is_kept() -> None:
    answer = written("n0 = 42", text="We count the rows of this table and keep the number.")
    company = await ran("openai", said("openai", answer), language="zh")
    assert company.completed
    assert company.played.sources == ["n0 = 42"]


async def test_code_in_another_language_is_an_error_and_then_the_playbook() -> None:
    company = await ran("openai", said("openai", written("n0 <- nrow(table); print(paste('rows', n0))")))
    assert company.completed
    assert company.played.sources[-1] == BY_BASE
    assert "NameError" in str([record.prompt for record in company.exchanges])


async def test_invalid_json_ten_times_in_a_row_ends_with_the_playbook_each_time() -> None:
    company = await ran("openai", said("openai", '{"actions": [{"kind": "code", "content": 1,,}'), behaviors=5)
    assert company.completed
    assert len(company.model.heard) == 10
    assert [one for one in company.played.sources if "by the base" in one] == [by_base(at) for at in range(5)]
    assert sum("did not manage" in source for source in company.played.sources) == 5


async def test_a_model_that_always_says_achieved_does_not_make_it_so() -> None:
    company = await ran(
        "openai",
        said("openai", written("m = 1")),
        said("openai", written("k = 1")),
        judge=said("openai", judged(True)),
    )
    assert company.completed
    assert company.played.sources[-1] == BY_BASE
    assert "it is not" in str(company.model.heard[1].body)


async def test_a_model_that_never_says_achieved_does_not_hold_up_what_is_there() -> None:
    company = await ran(
        "openai", *[good("openai", at) for at in range(3)], judge=said("openai", judged(False)), behaviors=3
    )
    assert company.completed
    assert len(company.model.heard) == len(company.judge.heard) == 3


async def test_a_model_that_repeats_itself_is_stopped() -> None:
    company = await ran("openai", said("openai", written("m = undefined_name")))
    assert company.completed
    assert company.played.sources[-1] == BY_BASE
    assert len(company.model.heard) <= 6


async def test_a_model_that_answers_every_question_with_the_same_cell_gives_way() -> None:
    company = await ran("openai", said("openai", written("n0 = 40 + 2")), behaviors=3, promised=1)
    assert company.completed
    written_by_base = [source for source in company.played.sources if "by the base" in source]
    assert written_by_base == [by_base(1), by_base(2)]


@apis
@pytest.mark.parametrize(
    "reply",
    [
        refusal("529 Overloaded", "busy", retry_after="0"),
        refusal("401 Unauthorized", f"wrong key {KEY}"),
        "nonsense",
        "filtered",
    ],
    ids=["unreachable", "wrong key", "invalid", "refused"],
)
async def test_with_stop_the_run_ends_recoverable_and_says_why(api: Api, reply: Reply | str) -> None:
    if isinstance(reply, str):
        reply = said(api, reply, finish="content_filter" if reply == "filtered" else "stop")
    company = await ran(api, reply, fallback="stop")
    stopped = company.played.state.stopped
    assert stopped is not None
    assert stopped.reason == "failed"
    assert "llm" in stopped.detail or "gave no answer" in stopped.detail
    assert company.played.state.fsm is State.ERROR
    assert BY_BASE not in company.played.sources
    assert len(company.model.heard) <= 4
    assert KEY not in str(company.played.entries)
