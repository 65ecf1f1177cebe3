"""The engine against a scripted Messages API, on the wire and through the real SDK."""

from __future__ import annotations

import httpx2
import msgspec
import pytest
from anthropic import AsyncAnthropic

from antiphon.engine import (
    InProcessTransport,
    build_request,
    request_bytes,
    request_json,
)
from antiphon.vocabulary.events import (
    ReasoningCompleted,
    ReasoningFailed,
    ReasoningRetried,
    ReasoningStarted,
    TextDelta,
    TextDiscarded,
    ToolCallStreamed,
)
from antiphon.vocabulary.values import ToolCall, Usage
from tests.fakes import command
from tests.fakes_messages_api import (
    TOOLS,
    Answer,
    EngineStage,
    Reset,
    ScriptedMessagesApi,
    Stall,
    asked,
    block_started,
    delta,
    recorded,
    refused,
    sse,
    started,
    streamed,
    text_reply,
    tool_reply,
)


async def test_a_streamed_reply_becomes_deltas_and_one_completed_event() -> None:
    stage = EngineStage(streamed(*text_reply("Hello", " there")))

    done = await stage.call()

    assert isinstance(done, ReasoningCompleted)
    assert (done.text.text, done.stop_reason, done.model) == (
        "Hello there",
        "end_turn",
        "claude-x",
    )
    assert (done.message_id, done.request_id) == ("msg_1", "req_1")
    assert done.usage == Usage(input_tokens=12, output_tokens=7)
    assert stage.told == [
        TextDelta(call_id="c1", text="Hello"),
        TextDelta(call_id="c1", text=" there"),
    ]
    assert [type(event) for event in stage.published] == [
        ReasoningStarted,
        ReasoningCompleted,
    ]


async def test_the_engine_reports_a_tool_call_when_its_block_is_complete() -> None:
    stage = EngineStage(streamed(*tool_reply()))

    done = await stage.call()

    call = ToolCall(id="toolu_1", name="search", arguments='{"query": "hybrid"}')
    assert stage.published[1] == ToolCallStreamed(call_id="c1", round=1, call=call)
    assert isinstance(done, ReasoningCompleted)
    assert (done.tool_calls, done.stop_reason) == ((call,), "tool_use")


async def test_the_recorded_request_is_byte_for_byte_what_was_sent() -> None:
    stage = EngineStage(streamed(*text_reply("x")))

    await stage.call()

    first = stage.published[0]
    assert isinstance(first, ReasoningStarted)
    assert (first.reasoner, first.attempt) == ("claude-sonnet-5-5", 1)
    assert stage.api.bodies == [request_bytes(first.request)]
    assert stage.api.headers[0][b"content-type"] == b"application/json"


async def test_a_request_says_nothing_of_the_machine_that_sends_it() -> None:
    stage = EngineStage(streamed(*text_reply("x")))

    await stage.call()

    (headers,) = stage.api.headers
    assert b"anthropic-version" in headers
    assert [name for name in headers if name.startswith(b"x-stainless")] == []


@pytest.mark.parametrize("final", [False, True])
async def test_the_bytes_are_those_that_messages_create_would_send(final: bool) -> None:
    api = ScriptedMessagesApi(streamed(*text_reply("x")))
    http = httpx2.AsyncClient(transport=InProcessTransport(api))
    client = AsyncAnthropic(
        api_key="k", base_url="http://api.test", max_retries=0, http_client=http
    )
    request = build_request(asked(final=final), TOOLS)

    await client.messages.create(**request_json(request))

    assert api.bodies == [request_bytes(request)]
    assert b'"stream":true' in api.bodies[0]


@pytest.mark.parametrize(
    ("answer", "failure", "retryable"),
    [
        (refused(400, "invalid_request_error"), "invalid_request", False),
        (refused(401, "authentication_error"), "authentication", False),
        (refused(403, "permission_error"), "authentication", False),
        (refused(404, "not_found_error"), "not_found", False),
        (refused(413, "request_too_large"), "context_window", False),
        (refused(429, "rate_limit_error", x_should_retry="false"), "rate_limit", False),
        (Answer([b"<html>Hello</html>"], 200, "text/html"), "malformed", False),
        (Answer([b"data: {not json}\n\n"]), "malformed", False),
        (Answer([b'data: [1, 2]\n\n']), "malformed", False),
        (Answer([b'{"error": {"code": 400, "message": "no", "type": "invalid_request_error"}}'], 200,
                "application/json"), "invalid_request", False),
    ],
)  # fmt: skip
async def test_the_engine_does_not_retry_a_failure_that_cannot_pass(
    answer: Answer, failure: str, retryable: bool
) -> None:
    stage = EngineStage(answer)

    done = await stage.call()

    assert isinstance(done, ReasoningFailed)
    assert (done.failure, done.retryable) == (failure, retryable)
    assert len(stage.api.bodies) == 1
    assert "sk-secret" not in repr(stage.published)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (refused(429, "rate_limit_error"), "rate_limit"),
        (refused(500, "api_error"), "server_error"),
        (refused(529, "overloaded_error"), "overloaded"),
        (Answer([b"<html>Bad gateway</html>"], 502, "text/html"), "server_error"),
        (Answer([Reset()]), "connection"),
        (Answer([sse(started()), Reset()]), "connection"),
        (Answer([sse(started(), block_started(0, type="text", text=""))]), "truncated_stream"),
        (streamed(started(), {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}),
         "overloaded"),
        (streamed(started(), {"type": "error", "error": {"type": "api_error", "message": "x"}}), "stream_error"),
        (streamed(started(), {"error": {"code": 500, "message": "x", "type": "server_error"}}), "stream_error"),
    ],
)  # fmt: skip
async def test_the_engine_tries_once_more_after_a_failure_that_may_pass(
    answer: Answer, why: str
) -> None:
    stage = EngineStage(answer, streamed(*text_reply("better")))

    done = await stage.call()

    retried = stage.published[1]
    assert isinstance(retried, ReasoningRetried)
    assert (retried.why, retried.attempt, retried.wait_s) == (why, 1, 0.5)
    assert stage.clock.slept == [0.5]
    assert TextDiscarded(call_id="c1") in stage.told
    assert isinstance(done, ReasoningCompleted)
    assert stage.api.bodies[0] == stage.api.bodies[1]


async def test_a_failure_that_does_not_pass_is_the_end() -> None:
    stage = EngineStage(
        refused(529, "overloaded_error"),
        refused(529, "overloaded_error", request_id="req_9"),
    )

    done = await stage.call()

    assert isinstance(done, ReasoningFailed)
    assert (done.failure, done.retryable, done.request_id) == (
        "overloaded",
        True,
        "req_9",
    )
    assert [
        event.attempt
        for event in stage.published
        if isinstance(event, ReasoningStarted)
    ] == [1, 2, 3, 4]
    assert stage.clock.slept == [0.5, 1.0, 2.0]


async def test_the_engine_obeys_retry_after_if_it_fits_the_time() -> None:
    stage = EngineStage(
        refused(429, "rate_limit_error", retry_after="7"), streamed(*text_reply("x"))
    )

    done = await stage.call(timeout_s=20.0)

    assert isinstance(done, ReasoningCompleted)
    assert stage.clock.slept == [7.0]


async def test_a_wait_that_does_not_fit_the_time_is_not_begun() -> None:
    stage = EngineStage(refused(429, "rate_limit_error", retry_after="30"))

    done = await stage.call(timeout_s=20.0)

    assert isinstance(done, ReasoningFailed)
    assert (done.failure, done.retry_after_s) == ("rate_limit", 30.0)


async def test_a_server_that_never_begins_is_a_timeout() -> None:
    stage = EngineStage(Answer([Stall()]), Answer([Stall()]), silence_s=0.01)

    done = await stage.call()

    assert isinstance(done, ReasoningFailed)
    assert done.failure == "timeout"


async def test_the_failure_says_that_a_server_fell_silent() -> None:
    begun = Answer(
        [
            sse(
                started(),
                block_started(0, type="text", text=""),
                delta(0, "text_delta", text="x"),
            ),
            Stall(),
        ]
    )
    stage = EngineStage(begun, begun, silence_s=0.01)

    done = await stage.call()

    assert isinstance(done, ReasoningFailed)
    assert done.failure == "silence"
    assert stage.told[-1] == TextDiscarded(call_id="c1")


async def test_the_whole_call_is_bounded_by_its_time() -> None:
    stage = EngineStage(Answer([sse(started()), Stall()]))

    done = await stage.call(timeout_s=0.02)

    assert isinstance(done, ReasoningFailed)
    assert done.failure == "timeout"
    assert "0.02 s" in done.detail


async def test_an_abandoned_call_ends_as_failed_and_says_nothing_more() -> None:
    stage = EngineStage(Answer([sse(started()), Stall()]))
    run = stage.engine.perform(command(recorded(asked())))
    assert run is not None
    await stage.api.asked.wait()

    run.abandon("the deadline passed")
    await stage.finish()
    run.abandon("again")

    begun, failed = stage.published
    assert isinstance(begun, ReasoningStarted)
    assert failed == ReasoningFailed(
        call_id="c1",
        failure="abandoned",
        detail="the deadline passed",
        unreported=begun.most,
    )


async def test_a_reply_that_is_not_streamed_is_read_as_well() -> None:
    message = {
        "id": "msg_2", "type": "message", "role": "assistant", "model": "m", "stop_reason": "tool_use",
        "content": [{"type": "text", "text": "Hm."}, {"type": "tool_use", "id": "t1", "name": "search", "input": {}}],
        "usage": {"input_tokens": 3, "output_tokens": 4},
    }  # fmt: skip
    stage = EngineStage(Answer([msgspec.json.encode(message)], 200, "application/json"))

    done = await stage.call()

    assert isinstance(done, ReasoningCompleted)
    assert (done.text.text, done.tool_calls[0].arguments, done.usage.output_tokens) == (
        "Hm.",
        "{}",
        4,
    )


async def test_the_failure_hides_a_key_that_the_server_repeats() -> None:
    body = b'{"type":"error","error":{"type":"authentication_error","message":"bad key sk-secret"}}'
    stage = EngineStage(Answer([body], 401, "application/json"))

    done = await stage.call()

    assert isinstance(done, ReasoningFailed)
    assert "bad key [key]" in done.detail
