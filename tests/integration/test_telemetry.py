"""Spans and metrics of whole queries agree with their traces, arrive over OTLP, and hold no text of anybody's."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from prometheus_client.parser import text_string_to_metric_families

from antiphon.dispatcher import quotable
from antiphon.service import Outcome, Question
from antiphon.telemetry import ATTRIBUTES, Metrics, SpanExport, observer
from antiphon.telemetry.conventions import CONTENT
from antiphon.telemetry.exporting import Redact
from antiphon.traces import Redaction
from antiphon.vocabulary import events as e
from antiphon.vocabulary.caller_trace import caller_trace
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.ports import ToolOutput
from antiphon.vocabulary.values import ToolCall
from tests.collector import Collector, Received, collecting
from tests.small_service import House, house

SECRET_WORDS = ("heliotrope", "marzipan", "xylophone", "quagmire")
"""One in the question, one in a tool's result, one in a reply, one in what a call or a server says."""
SECRETS = Redaction({"words": "|".join(SECRET_WORDS)})
QUESTION = Question(query="How does heliotrope ranking weigh terms?")
FOUND = "Ranking weighs rare terms like marzipan more than common terms."
LOOKED_UP = {"text": "", "calls": [{"name": "look", "input": {"what": "quagmire"}}]}
TWO_CALLS = {"replies": [LOOKED_UP, {"text": "It weighs the xylophone more."}]}
TWICE = {"replies": [*TWO_CALLS["replies"], *TWO_CALLS["replies"]]}
UNKNOWN_TOOL = {
    "replies": [
        {"text": "", "calls": [{"name": "quagmire of words", "input": {}}]},
        {"text": "It weighs rare terms more."},
    ]
}
SERVERS_WORDS = {
    "replies": [
        {
            **LOOKED_UP,
            "model": "a quagmire",
            "id": "a quagmire",
            "stop_reason": "a quagmire",
        },
        {"status": 400, "error": "invalid_request_error", "message": "In a quagmire."},
        {
            "content": [
                {
                    "type": "thinking",
                    "thinking": "A quagmire.",
                    "signature": "quagmire",
                },
                {"type": "text", "text": "It weighs the xylophone more."},
            ]
        },
    ],
    "then": "last",
}
FAILING = {
    "replies": [
        {"calls": [{"name": "break_down", "input": {"what": "quagmire"}}]},
        {"calls": [{"name": "look", "input": {"which": "quagmire"}}]},
        {"text": "It weighs the xylophone more."},
    ]
}
SCRIPTS = (TWO_CALLS, UNKNOWN_TOOL, SERVERS_WORDS, FAILING)
TOOLS = ("look", "break_down")


async def look(what: str) -> ToolOutput:
    """Finds a passage.

    Args:
        what: What to look for.
    """
    return ToolOutput(text="found", passages=(quotable("Course - Lesson 1", FOUND),))


async def break_down(what: str) -> ToolOutput:
    """Fails.

    Args:
        what: What to fail about.
    """
    raise ValueError(f"cannot look for {what} nor for marzipan")


class Watched(NamedTuple):
    """The service, and its telemetry."""

    house: House
    collector: Collector
    metrics: Metrics
    spans: SpanExport

    async def ask(self, question: Question = QUESTION) -> Outcome:
        outcome = await self.house.service.ask(question)
        self.spans.flush()
        return outcome

    def value(self, name: str, **labels: str) -> float:
        """The sum of a metric's series that have these labels."""
        total = 0.0
        for family in text_string_to_metric_families(self.metrics.exposition()):
            for sample in family.samples:
                if sample.name == name and labels.items() <= sample.labels.items():
                    total += sample.value
        return total


@asynccontextmanager
async def watched(
    folder: Path, script: object, redact: Redact | None = None
) -> AsyncIterator[Watched]:
    """A service whose spans and metrics are kept; the spans have content if there is something to redact it."""
    metrics = Metrics()
    with collecting() as collector:
        spans = SpanExport(collector.url, {"x-key": "k"}, redact)
        observers = (observer(TOOLS, metrics, spans),)
        async with house(folder, script, look, break_down, observers=observers) as at:
            yield Watched(at, collector, metrics, spans)
        spans.close()


def only(trace: Sequence[Recorded[Event]], kind: type[Event]) -> list[Recorded[Event]]:
    return [recorded for recorded in trace if isinstance(recorded.event, kind)]


def named(spans: Sequence[Received], beginning: str) -> list[Received]:
    found = [span for span in spans if span.name.startswith(beginning)]
    return sorted(found, key=lambda span: span.start_s)


async def test_each_span_is_an_event_of_the_trace_with_its_times_and_figures(
    tmp_path: Path,
) -> None:
    async with watched(tmp_path, TWO_CALLS) as at:
        outcome = await at.ask()
        trace = await at.house.trace(outcome)
        spans = at.collector.of(outcome.query_id)

    [query] = named(spans, "invoke_agent")
    first, last = trace[0], trace[-1]
    assert (query.start_s, query.end_s) == pytest.approx((first.at, last.at))
    assert query.attributes["gen_ai.usage.input_tokens"] == (
        outcome.response.usage.all_input_tokens
    )
    assert query.attributes["antiphon.query.status"] == outcome.status
    chats = named(spans, "chat")
    for span, asked, replied in zip(
        chats,
        only(trace, e.ReasoningRequested),
        only(trace, e.ReasoningCompleted),
        strict=True,
    ):
        assert isinstance(replied.event, e.ReasoningCompleted)
        assert span.attributes["antiphon.event.seq"] == asked.seq
        assert (span.start_s, span.end_s) == pytest.approx((asked.at, replied.at))
        usage = replied.event.usage
        assert (
            span.attributes["gen_ai.usage.input_tokens"],
            span.attributes["gen_ai.usage.output_tokens"],
        ) == (usage.all_input_tokens, usage.output_tokens)
        waited = span.attributes["gen_ai.response.time_to_first_chunk"]
        assert isinstance(waited, float)
        assert 0 <= waited <= span.end_s - span.start_s + 0.001
    [tool] = named(spans, "execute_tool look")
    [asked] = only(trace, e.ToolRequested)
    assert tool.attributes["antiphon.event.seq"] == asked.seq
    assert tool.attributes["antiphon.tool.passages"] == 1
    rounds = named(spans, "round")
    assert [span.parent_id for span in rounds] == [query.span_id] * len(rounds)
    assert tool.parent_id == rounds[0].span_id
    assert [span.parent_id for span in chats] == [span.span_id for span in rounds]


async def test_the_querys_id_is_the_traces_and_every_attribute_is_in_the_table(
    tmp_path: Path,
) -> None:
    async with watched(tmp_path, TWO_CALLS) as at:
        outcome = await at.ask()
        spans = at.collector.of(outcome.query_id)

    assert {span.trace_id for span in spans} == {outcome.query_id}
    used: set[str] = set()
    for span in spans:
        used |= span.attributes.keys()
        for _, attributes in span.moments:
            used |= attributes.keys()
    assert used <= ATTRIBUTES.keys()
    assert at.collector.schemas == {"https://opentelemetry.io/schemas/gen-ai/0.1.0"}
    assert at.collector.resource["service.name"] == "antiphon"
    assert at.collector.headers[0]["x-key"] == "k"


async def test_a_callers_trace_goes_on_and_one_that_is_not_recorded_is_not_sent(
    tmp_path: Path,
) -> None:
    theirs = "0af7651916cd43dd8448eb211c80319c"
    async with watched(tmp_path, TWO_CALLS) as at:
        token = caller_trace.set({"traceparent": f"00-{theirs}-b7ad6b7169203331-01"})
        outcome = await at.ask()
        caller_trace.reset(token)
        spans = at.collector.of(outcome.query_id)
        # The last two digits are W3C's flags: 00 says that the caller does not record its trace.
        token = caller_trace.set({"traceparent": f"00-{theirs}-b7ad6b7169203331-00"})
        await at.ask()
        caller_trace.reset(token)
        sent = len(at.collector.spans)

    assert {span.trace_id for span in spans} == {theirs}
    [query] = named(spans, "invoke_agent")
    assert query.parent_id == "b7ad6b7169203331"
    assert sent == len(spans)


@pytest.mark.parametrize("script", SCRIPTS)
async def test_telemetry_contains_no_text_of_question_document_arguments_or_reply(
    tmp_path: Path, script: object
) -> None:
    async with watched(tmp_path, script) as at:
        outcome = await at.ask()
        at.collector.of(outcome.query_id)
        told = b"".join(at.collector.bodies) + at.metrics.exposition().encode()

    assert [word for word in SECRET_WORDS if word.encode() in told] == []


@pytest.mark.parametrize("script", SCRIPTS)
async def test_with_content_spans_say_all_but_what_is_redacted_and_metrics_say_nothing(
    tmp_path: Path, script: object
) -> None:
    """The service itself redacts none of the words: an event may reach telemetry by a way that redacts nothing."""
    told: list[bytes] = []
    for redaction in (SECRETS, Redaction()):
        async with watched(tmp_path, script, redaction.event) as at:
            outcome = await at.ask()
            at.collector.of(outcome.query_id)
            told.append(b"".join(at.collector.bodies))
            shown = at.metrics.exposition()

        assert [word for word in SECRET_WORDS if word in shown] == []
    redacted, open_ = told
    assert [word for word in SECRET_WORDS if word.encode() in redacted] == []
    assert "██████████ ranking".encode() in redacted
    assert b"heliotrope ranking" in open_


async def test_with_content_each_span_says_what_its_events_say(tmp_path: Path) -> None:
    async with watched(tmp_path, TWO_CALLS, Redaction().event) as at:
        outcome = await at.ask()
        trace = await at.house.trace(outcome)
        spans = at.collector.of(outcome.query_id)

    [query] = named(spans, "invoke_agent")
    assert query.attributes["input.value"] == QUESTION.query
    assert query.attributes["output.value"] == outcome.response.answer
    first, second = named(spans, "chat")
    prompts = [
        str(each.attributes["gen_ai.input.messages"]) for each in (first, second)
    ]
    assert [QUESTION.query in prompt for prompt in prompts] == [True, True]
    assert ["marzipan" in prompt for prompt in prompts] == [False, True]
    system, *_ = json.loads(str(first.attributes["gen_ai.system_instructions"]))
    assert system["content"].startswith("You answer questions")
    assert json.loads(str(first.attributes["gen_ai.output.messages"])) == [
        {
            "role": "assistant",
            "parts": [
                {"type": "text", "content": ""},
                {
                    "type": "tool_call",
                    "id": first_call(trace).id,
                    "name": "look",
                    "arguments": {"what": "quagmire"},
                },
            ],
            "finish_reason": "tool_call",
        }
    ]
    definitions = json.loads(str(first.attributes["gen_ai.tool.definitions"]))
    assert {each["name"] for each in definitions} == set(TOOLS)
    [tool] = named(spans, "execute_tool")
    assert tool.attributes["gen_ai.tool.call.arguments"] == '{"what":"quagmire"}'
    assert tool.attributes["gen_ai.tool.call.result"] == "found"
    [retrieval] = named(spans, "retrieval")
    assert (retrieval.parent_id, retrieval.start_s) == (tool.span_id, tool.start_s)
    [document] = json.loads(str(retrieval.attributes["gen_ai.retrieval.documents"]))
    assert document["content"] == FOUND
    used = {name for span in spans for name in span.attributes}
    assert used <= ATTRIBUTES.keys() | CONTENT.keys()
    assert used >= CONTENT.keys() - {"gen_ai.retrieval.query.text"}


def first_call(trace: Sequence[Recorded[Event]]) -> ToolCall:
    [asked] = only(trace, e.ToolRequested)
    assert isinstance(asked.event, e.ToolRequested)
    return asked.event.call


async def test_an_unknown_tool_is_called_other_and_fails(
    tmp_path: Path,
) -> None:
    async with watched(tmp_path, UNKNOWN_TOOL) as at:
        outcome = await at.ask()
        spans = at.collector.of(outcome.query_id)

        [tool] = named(spans, "execute_tool")
        assert (tool.name, tool.failed) == ("execute_tool other", True)
        assert tool.attributes["error.type"] == "unknown_tool"
        counted = at.value(
            "antiphon_tool_calls_total", tool="other", outcome="unknown_tool"
        )
        assert counted == 1


async def test_metrics_are_the_sums_of_the_traces(tmp_path: Path) -> None:
    async with watched(tmp_path, TWICE) as at:
        outcomes = [await at.ask(), await at.ask()]
        traces = [await at.house.trace(outcome) for outcome in outcomes]

        events = [recorded.event for trace in traces for recorded in trace]
        replies = [each for each in events if isinstance(each, e.ReasoningCompleted)]
        usage = sum(
            (outcome.response.usage for outcome in outcomes[1:]),
            outcomes[0].response.usage,
        )
        assert at.value("antiphon_queries_total", status="answered") == 2
        assert at.value("antiphon_answers_total") == 2
        assert at.value("antiphon_calls_total", outcome="completed") == len(replies)
        assert at.value("antiphon_tokens_total", kind="output") == usage.output_tokens
        assert at.value("antiphon_tokens_total", kind="input") == usage.input_tokens
        assert at.value("antiphon_tool_calls_total", tool="look") == len(
            [each for each in events if isinstance(each, e.ToolSucceeded)]
        )
        assert at.value("antiphon_rounds_total") == len(
            [each for each in events if isinstance(each, e.RoundOpened)]
        )
        doubts = [doubt for each in outcomes for doubt in each.response.indicators]
        assert at.value("antiphon_doubts_total") == len(doubts)
        seconds = sum(outcome.duration_ms for outcome in outcomes) / 1000
        total = at.value("antiphon_query_duration_seconds_sum")
        assert total == pytest.approx(seconds, abs=1e-3)
        assert at.value("antiphon_query_first_token_seconds_count") == 2
        assert at.value("antiphon_call_first_token_seconds_count") == len(replies)


async def test_telemetry_leaves_traces_as_they_are_and_does_not_count_recorded_forks(
    tmp_path: Path,
) -> None:
    async with watched(tmp_path, TWO_CALLS) as at:
        outcome = await at.ask()
        trace = await at.house.trace(outcome)
        calls = at.value("antiphon_calls_total")
        forked = await at.house.service.history.fork(
            outcome.query_id, 2, (), "recorded"
        )
        await forked.outcome()

        assert calls
        assert at.value("antiphon_calls_total") == calls
        first = trace[0].event
        assert isinstance(first, e.QueryReceived)
        assert "subscribers" not in dict(first.versions)


async def test_a_collector_that_is_away_keeps_no_query_and_no_end_waiting(
    tmp_path: Path,
) -> None:
    # Nobody listens at port 9 (discard) of this machine.
    spans = SpanExport("http://127.0.0.1:9", {})
    observers = (observer(TOOLS, None, spans),)
    async with house(tmp_path, TWO_CALLS, look, observers=observers) as at:
        outcome = await at.service.ask(QUESTION)
    spans.close()

    assert outcome.status == "answered"
    assert outcome.response.answer == "It weighs the xylophone more."
