"""Both libraries at the same fake endpoint: what comes through, and what each fault becomes."""

from __future__ import annotations

import contextlib
import json
import logging
from collections.abc import AsyncIterator

import pytest

from llm.fake_model import Api, FakeModel, Reply, events, in_pieces, refusal
from notebook_bcc.errors import PlannerAnswerInvalid, PlannerFailed, PlannerRefused, PlannerUnreachable
from notebook_bcc.llm.chat import ChatModel, whole
from notebook_bcc.llm.providers.names import Access, ModelName
from notebook_bcc.llm.providers.registry import open_model
from notebook_bcc.planners.model_exchange import ChatImage, ChatMessage, Usage

pytest.importorskip("openai", reason="the extra `llm` is not installed")
pytest.importorskip("anthropic", reason="the extra `llm` is not installed")

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("api", ["openai", "anthropic"])]

MESSAGES = [ChatMessage("system", "Answer in JSON."), ChatMessage("user", "Hello 字")]
SCHEMA = {
    "type": "object",
    "properties": {"text": {"type": "string", "maxLength": 80}},
    "required": ["text"],
    "additionalProperties": False,
}
KEY = "sk-test-key-0123456789"


@contextlib.asynccontextmanager
async def model_at(access: Access) -> AsyncIterator[ChatModel]:
    model = open_model(access)
    try:
        yield model
    finally:
        await model.close()


async def asked(fake: FakeModel, api: Api, *, timeout: float = 30.0, schema: bool = False) -> tuple[str, Usage]:
    async with model_at(fake.access(api)) as model:
        given = SCHEMA if schema else None
        return await whole(model.stream(MESSAGES, schema=given, max_tokens=50, temperature=0.0, timeout=timeout))


async def failure(reply: Reply, api: Api, *, timeout: float = 30.0) -> PlannerFailed:
    async with FakeModel(reply) as fake:
        with pytest.raises(PlannerFailed) as caught:
            await asked(fake, api, timeout=timeout)
    assert KEY not in str(caught.value)
    assert len(fake.heard) == 1, "a door never tries again by itself"
    return caught.value


@pytest.mark.parametrize("size", [1, 7, 10_000])
async def test_text_comes_through_whatever_the_pieces(api: Api, size: int) -> None:
    texts = ["{", '"te', "xt", '": "字 😀\\n', '"}', "\u2028"]
    async with FakeModel(Reply(in_pieces(events(api, texts), size))) as fake:
        text, usage = await asked(fake, api)
    assert text == "".join(texts)
    assert usage == Usage(input_tokens=11, output_tokens=7, finish="stop", schema=False)


async def test_pieces_arrive_before_the_answer_ends(api: Api) -> None:
    beginning = events(api, ["one", "two"], finish=None)
    async with FakeModel(Reply([beginning], end="hang")) as fake, model_at(fake.access(api)) as model:
        answer = model.stream(MESSAGES, max_tokens=50, timeout=30.0)
        assert [await anext(answer), await anext(answer)] == ["one", "two"]
        await answer.aclose()  # type: ignore[attr-defined]  # a generator in practice


async def test_what_is_asked_is_what_the_vendor_expects(api: Api) -> None:
    async with FakeModel(Reply([events(api, ["{}"])])) as fake:
        _, usage = await asked(fake, api, schema=True)
    [heard] = fake.heard
    assert usage.schema
    assert KEY in heard.headers.get("authorization", "") + heard.headers.get("x-api-key", "")
    assert heard.body["model"] == "m"
    assert heard.body["temperature"] == 0.0
    if api == "openai":
        assert heard.path == "/v1/chat/completions"
        assert heard.body["max_completion_tokens"] == 50
        schema = heard.body["response_format"]["json_schema"]["schema"]
    else:
        assert heard.path == "/v1/messages"
        assert heard.body["max_tokens"] == 50
        assert heard.body["system"] == "Answer in JSON."
        schema = heard.body["output_config"]["format"]["schema"]
    assert schema["required"] == ["text"]
    assert "maxLength" not in json.dumps(schema), "hosted endpoints refuse it"


async def test_a_url_gets_bounds_of_the_schema_and_no_key_of_others(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-openai")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "sk-of-anthropic")
    async with FakeModel(Reply([events("openai", ["{}"])])) as fake:
        access = Access(ModelName(vendor="url", name="local", address=f"{fake.address}/v1"))
        async with model_at(access) as model:
            await whole(model.stream(MESSAGES, schema=SCHEMA, max_tokens=50, timeout=30.0))
    [heard] = fake.heard
    assert heard.body["max_tokens"] == 50
    assert "maxLength" in json.dumps(heard.body["response_format"])
    assert "sk-of" not in json.dumps(dict(heard.headers))
    assert "org-of" not in json.dumps(dict(heard.headers))


async def test_an_endpoint_that_knows_no_schema_is_asked_without(api: Api) -> None:
    complaint = refusal("400 Bad Request", "Unknown parameter: response_format / output_config")
    async with FakeModel(complaint, Reply([events(api, ["{}"])])) as fake, model_at(fake.access(api)) as model:
        for _ in range(2):
            _, usage = await whole(model.stream(MESSAGES, schema=SCHEMA, max_tokens=50, timeout=30.0))
            assert not usage.schema
    assert len(fake.heard) == 3, "the second time it is not tried again"


async def test_an_endpoint_that_wants_no_temperature_gets_none(api: Api) -> None:
    complaint = refusal("400 Bad Request", "Unsupported value: 'temperature' does not support 0.0 with this model.")
    async with FakeModel(complaint, Reply([events(api, ["{}"])])) as fake:
        text, _ = await asked(fake, api)
    assert text == "{}"
    assert "temperature" not in fake.heard[1].body


@pytest.mark.parametrize("status", ["429 Too Many Requests", "529 Overloaded", "500 Internal Server Error", "503 X"])
async def test_a_busy_endpoint_is_unreachable_and_says_for_how_long(api: Api, status: str) -> None:
    error = await failure(refusal(status, f"overloaded, {KEY}", retry_after="7"), api)
    assert isinstance(error, PlannerUnreachable)
    assert error.retry_after == 7.0
    assert status[:3] in error.reason


async def test_an_empty_account_is_not_worth_waiting_for(api: Api) -> None:
    error = await failure(refusal("429 Too Many Requests", "insufficient_quota: check your plan"), api)
    assert isinstance(error, PlannerAnswerInvalid)


@pytest.mark.parametrize("status", ["400 Bad Request", "401 Unauthorized", "404 Not Found", "307 Temporary Redirect"])
async def test_a_wrong_request_is_not_worth_trying_again(api: Api, status: str) -> None:
    error = await failure(refusal(status, f"no: {KEY}", location="http://127.0.0.1:9/"), api)
    assert isinstance(error, PlannerAnswerInvalid)


async def test_a_page_in_place_of_an_answer_is_an_invalid_answer(api: Api) -> None:
    error = await failure(Reply([b"<html>welcome</html>"], content_type="text/html"), api)
    assert isinstance(error, PlannerUnreachable | PlannerAnswerInvalid)


@pytest.mark.parametrize("size", [1, 10_000])
async def test_a_connection_that_breaks_in_the_middle_is_unreachable(api: Api, size: int) -> None:
    pieces = in_pieces(events(api, ["half an ans"], finish=None), size)
    error = await failure(Reply(pieces, end="cut"), api)
    assert isinstance(error, PlannerUnreachable)


async def test_a_stream_that_ends_without_its_end_is_unreachable(api: Api) -> None:
    error = await failure(Reply([events(api, ["half"], finish=None)]), api)
    assert isinstance(error, PlannerUnreachable)
    assert "4 characters" in error.reason


async def test_nothing_listening_is_unreachable(api: Api) -> None:
    async with FakeModel(Reply()) as fake:
        access = fake.access(api)
    async with model_at(access) as model:
        with pytest.raises(PlannerUnreachable, match="nothing listens"):
            await whole(model.stream(MESSAGES, max_tokens=50, timeout=30.0))


async def test_silence_ends_with_the_time_given(api: Api) -> None:
    error = await failure(Reply([events(api, ["a"], finish=None)], end="hang"), api, timeout=0.3)
    assert isinstance(error, PlannerUnreachable)
    assert "0.3 s" in error.reason


async def test_a_content_filter_is_a_refusal(api: Api) -> None:
    error = await failure(Reply([events(api, ["some"], finish="content_filter")]), api)
    assert isinstance(error, PlannerRefused)


async def test_a_filter_in_front_is_a_refusal(api: Api) -> None:
    error = await failure(refusal("400 Bad Request", "The prompt triggered the content management policy"), api)
    assert isinstance(error, PlannerRefused)


async def test_an_error_inside_the_stream_is_unreachable(api: Api) -> None:
    body = json.dumps({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
    event = f"event: error\ndata: {body}\n\n" if api == "anthropic" else f"data: {body}\n\n"
    error = await failure(Reply([events(api, ["a"], finish=None), event.encode()]), api)
    assert isinstance(error, PlannerUnreachable)
    assert "verloaded" in error.reason


ODD: dict[Api, list[object]] = {
    "openai": [
        [1],
        "text",
        7,
        {"choices": 5},
        {"choices": [5]},
        {"choices": [{"delta": 5}]},
        {"choices": [{"delta": {"content": 5}}]},
        {"choices": [{"delta": {"content": [5]}}]},
        {"choices": [{"delta": {"refusal": 5}}]},
        {"usage": 5},
    ],
    "anthropic": [
        {"type": "content_block_delta", "delta": 5},
        {"type": "content_block_delta", "delta": {"type": "text_delta", "text": 5}},
        {"type": "content_block_delta", "delta": {"type": "text_delta", "text": ["a"]}},
        {"type": "message_start", "message": 5},
        {"type": "message_delta", "delta": 5},
    ],
}


async def test_an_event_of_another_shape_is_an_answer_that_cannot_be_used(api: Api) -> None:
    for odd in ODD[api]:
        kind = odd["type"] if isinstance(odd, dict) and api == "anthropic" else "message"
        event = f"event: {kind}\ndata: {json.dumps(odd)}\n\n"
        error = await failure(Reply([event.encode(), events(api, ["text"])]), api)
        assert isinstance(error, PlannerAnswerInvalid), odd


async def test_tokens_that_are_no_numbers_were_not_counted(api: Api) -> None:
    answer = (
        events(api, ["text"]).replace(b'_tokens": 11', b'_tokens": "many"').replace(b'_tokens": 7', b'_tokens": -7')
    )
    async with FakeModel(Reply([answer])) as fake:
        text, usage = await asked(fake, api)
    assert (text, usage.input_tokens, usage.output_tokens) == ("text", None, None)


async def test_what_a_model_thinks_is_no_text(api: Api) -> None:
    answer = events(api, ["?", "xt"])
    if api == "openai":
        parts = [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "te"}]
        answer = answer.replace(b'"?"', json.dumps(parts).encode())
    else:
        thought = {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm."}}
        event = f"event: content_block_delta\ndata: {json.dumps(thought)}\n\n".encode()
        answer = answer.replace(b'"?"', b'"te"').replace(b"event: ping", event + b"event: ping")
    async with FakeModel(Reply([answer])) as fake:
        text, _ = await asked(fake, api)
    assert text == "text"


@pytest.mark.parametrize(
    "silent", [{}, {"choices": None}, {"choices": [{}]}, {"choices": [{"delta": None}]}, {"usage": None, "choices": []}]
)
async def test_an_event_that_says_nothing_is_passed_over(api: Api, silent: dict[str, object]) -> None:
    event = f"data: {json.dumps(silent)}\n\n" if api == "openai" else "event: ping\ndata: {}\n\n"
    async with FakeModel(Reply([event.encode(), events(api, ["text"])])) as fake:
        text, _ = await asked(fake, api)
    assert text == "text"


@pytest.mark.parametrize("finish", ["stop", "length"])
async def test_an_empty_answer_is_invalid(api: Api, finish: str) -> None:
    error = await failure(Reply([events(api, [], finish=finish)]), api)
    assert isinstance(error, PlannerAnswerInvalid)


async def test_an_answer_that_was_cut_says_so(api: Api) -> None:
    async with FakeModel(Reply([events(api, ["text"], finish="length")])) as fake:
        _, usage = await asked(fake, api)
    assert usage.finish == "length"


async def test_a_megabyte_comes_through(api: Api) -> None:
    texts = ["字" * 1000] * 350
    async with FakeModel(Reply(in_pieces(events(api, texts), 8_191))) as fake:
        text, _ = await asked(fake, api)
    assert text == "".join(texts)


async def test_the_key_is_in_no_log_and_no_repr(api: Api, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        async with FakeModel(refusal("401 Unauthorized", f"Incorrect API key provided: {KEY}")) as fake:
            with pytest.raises(PlannerFailed) as caught:
                await asked(fake, api)
            assert KEY not in repr(fake.access(api))
    assert KEY not in str(caught.value)
    assert KEY not in repr(caught.value)
    ours = [record for record in caplog.records if not record.name.startswith("asyncio")]
    assert not [record for record in ours if KEY in record.getMessage()]


async def test_pictures_stand_before_the_text_as_the_vendor_wants_them(api: Api) -> None:
    picture = ChatImage("image/png", "aGVsbG8=", caption="A figure.")
    async with FakeModel(Reply([events(api, ["{}"])])) as fake, model_at(fake.access(api)) as model:
        await whole(model.stream([ChatMessage("user", "Look.", (picture,))], max_tokens=5, timeout=30.0))
    caption, image, text = fake.heard[0].body["messages"][0]["content"]
    assert (caption["text"], text["text"]) == ("A figure.", "Look.")
    if api == "openai":
        assert image["image_url"] == {"url": "data:image/png;base64,aGVsbG8="}
    else:
        assert image["source"] == {"type": "base64", "media_type": "image/png", "data": "aGVsbG8="}
