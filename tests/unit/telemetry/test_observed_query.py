"""What is told of a query: its spans, and the times of its calls and tools, all by its trace's own times."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from antiphon.telemetry import Metrics
from antiphon.telemetry.queries import observer
from antiphon.vocabulary.catalog import BUILT_IN
from antiphon.vocabulary.events import (
    Event,
    QueryClosed,
    ReasoningCompleted,
    ReasoningRetried,
    RoundOpened,
    TextDelta,
    ToolCallStreamed,
    ToolFailed,
    ToolRequested,
)
from antiphon.vocabulary.subscribers import HearLive, Surroundings
from antiphon.vocabulary.values import StoredText, ToolCall, Usage
from tests.fakes_messages_api import asked
from tests.story import NOON, placed, query_received, response_assembled, tool_succeeded

CALL = ToolCall(id="t1", name="search", arguments="{}")
OTHER = ToolCall(id="t2", name="of-nobody", arguments="{}")
RETRIED = ReasoningRetried(
    call_id="c1", attempt=1, wait_s=0.0, why="overloaded", detail=""
)
REPLIED = ReasoningCompleted(
    call_id="c1", round=1, content=(), text=StoredText(""), tool_calls=(), citations=(), stop_reason="tool_use",
    usage=Usage(input_tokens=10, output_tokens=2), wasted=Usage(input_tokens=5), model="m", message_id="msg",
)  # fmt: skip
# Each is a second after the one before.
TRACE: list[Event] = [
    query_received(),
    RoundOpened(round=1, call_id="c1", rounds_left=1, final=False),
    asked(),
    RETRIED,
    RETRIED,
    ToolCallStreamed(call_id="c1", round=1, call=CALL),
    ToolRequested(round=1, call=CALL, timeout_s=9.0),
    ToolRequested(round=1, call=OTHER, timeout_s=9.0),
    REPLIED,
    tool_succeeded("a", "b"),
    ToolFailed(tool_call_id="t2", name="of-nobody", failure="unknown_tool", detail=""),
    response_assembled(),
    QueryClosed(status="answered"),
]


class Watch:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.at = NOON

    def now(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        raise AssertionError("nothing is waited for")


class Told:
    """A query that is observed, its spans and its metrics."""

    def __init__(self) -> None:
        self._spans = InMemorySpanExporter()
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(self._spans))
        self.metrics = Metrics()
        self.clock = Watch()
        self.live: list[HearLive] = []
        spans = cast(Any, SimpleNamespace(tracer=provider.get_tracer("t"), redact=None))
        act = observer({"search"}, self.metrics, spans).act
        assert act is not None
        no_ports = cast(Any, None)
        heard = act(Surroundings(no_ports, self.clock, BUILT_IN, self.live.append))
        self._handlers = {each.kind: each.handler for each in heard}

    def hear(self, events: list[Event]) -> None:
        for recorded in placed("q1", events):
            handler = self._handlers.get(type(recorded.event))
            if handler is not None:
                handler(recorded)

    def span(self, name: str) -> ReadableSpan:
        [found] = [
            each for each in self._spans.get_finished_spans() if each.name == name
        ]
        return found

    def shown(self, metric: str) -> list[str]:
        lines = self.metrics.exposition().splitlines()
        return [line.removeprefix(metric) for line in lines if line.startswith(metric)]


@pytest.fixture
def told() -> Told:
    return Told()


def seconds(span: ReadableSpan) -> float:
    assert span.end_time is not None
    assert span.start_time is not None
    return (span.end_time - span.start_time) / 1e9


def test_each_part_lasts_from_its_request_to_its_outcome(told: Told) -> None:
    told.hear(TRACE)

    lasted = {
        name: seconds(told.span(name))
        for name in (
            "invoke_agent antiphon",
            "round 1",
            "chat claude-sonnet-5-5",
            "execute_tool search",
        )
    }
    assert lasted == {
        "invoke_agent antiphon": 12.0,
        "round 1": 11.0,
        "chat claude-sonnet-5-5": 6.0,
        "execute_tool search": 3.0,
    }
    assert told.shown("antiphon_query_duration_seconds_sum") == [" 12.0"]
    assert told.shown("antiphon_call_duration_seconds_sum") == [
        '{model="claude-sonnet-5-5"} 6.0'
    ]
    assert told.shown("antiphon_tool_duration_seconds_sum") == [
        '{tool="search"} 3.0',
        '{tool="other"} 3.0',
    ]


def test_a_call_tells_its_attempts_its_first_word_and_all_of_its_usage(
    told: Told,
) -> None:
    told.hear(TRACE)

    attributes = told.span("chat claude-sonnet-5-5").attributes
    assert attributes is not None
    assert attributes["antiphon.call.retries"] == 2
    assert attributes["gen_ai.response.time_to_first_chunk"] == 3.0
    assert attributes["gen_ai.usage.input_tokens"] == 15
    assert told.shown("antiphon_call_first_token_seconds_sum") == [
        '{model="claude-sonnet-5-5"} 3.0'
    ]
    assert told.shown("antiphon_calls_total") == [
        '{model="claude-sonnet-5-5",outcome="completed",purpose="reasoning"} 1.0'
    ]


def test_a_tool_tells_what_it_brought_and_one_of_nobody_is_no_label(told: Told) -> None:
    told.hear(TRACE)

    attributes = told.span("execute_tool search").attributes
    assert attributes is not None
    assert attributes["antiphon.tool.passages"] == 2
    assert told.shown("antiphon_tool_calls_total") == [
        '{outcome="succeeded",tool="search"} 1.0',
        '{outcome="unknown_tool",tool="other"} 1.0',
    ]


def test_the_first_text_of_a_query_is_timed_once(told: Told) -> None:
    told.hear(TRACE[:3])
    for second in (4.0, 7.0):
        told.clock.at = NOON + second
        for hear_live in told.live:
            hear_live(TextDelta(call_id="c1", text="a"))

    assert told.shown("antiphon_query_first_token_seconds_sum") == [" 3.0"]
    assert told.shown("antiphon_query_first_token_seconds_count") == [" 1.0"]
    assert told.shown("antiphon_call_first_token_seconds_sum") == [
        '{model="claude-sonnet-5-5"} 1.0'
    ]


def test_a_call_that_has_no_outcome_ends_with_its_query(told: Told) -> None:
    told.hear([*TRACE[:3], QueryClosed(status="cancelled")])

    assert seconds(told.span("chat claude-sonnet-5-5")) == 1.0
