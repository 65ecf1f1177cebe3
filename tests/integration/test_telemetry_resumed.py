"""Spans of an interrupted query: a step that is repeated begins when it is repeated, in the query's own trace."""

from __future__ import annotations

from typing import Any

from antiphon.telemetry import SpanExport, observer
from antiphon.vocabulary import events as e
from antiphon.vocabulary.catalog import BUILT_IN
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.ports import Ports
from antiphon.vocabulary.subscribers import Surroundings
from tests.collector import Received, collecting
from tests.fakes import FixedClock

TOOLS = ("look",)


def named(spans: list[Received], beginning: str) -> list[Received]:
    return [span for span in spans if span.name.startswith(beginning)]


async def test_a_call_that_is_repeated_in_a_resumed_query_begins_then_and_in_its_trace() -> (
    None
):
    query_id = "0" * 31 + "1"
    asked = e.ReasoningRequested(
        call_id="call-1", round=1, final=False, reasoner="primary", model="m",
        max_tokens=10, timeout_s=1.0, max_rounds=2, messages=(),
    )  # fmt: skip
    failed = e.ReasoningFailed(call_id="call-1", failure="timeout", detail="")
    clock = FixedClock(500.0)
    with collecting() as collector:
        spans = SpanExport(collector.url, {})
        ports = Ports(publish=ignore, emit_live=ignore, spawn=ignore)
        surroundings = Surroundings(ports, clock, BUILT_IN)
        act = observer(TOOLS, None, spans).act
        assert act is not None
        heard = {each.kind: each for each in act(surroundings)}

        def hear(seq: int, at: float, event: Event, *, repeat: bool = False) -> None:
            subscription = heard[type(event)]
            handler = subscription.repeat if repeat else subscription.handler
            assert handler is not None
            handler(Recorded(query_id=query_id, seq=seq, cause=0, at=at, event=event))

        hear(4, 100.0, asked, repeat=True)
        hear(9, 501.0, e.QueryResumed(away_s=400.0, why="killed"))
        hear(10, 502.0, failed)
        hear(11, 503.0, e.QueryClosed(status="failed"))
        spans.close()
        found = collector.of(query_id)

    [query] = named(found, "invoke_agent")
    [chat] = named(found, "chat")
    assert query.attributes["antiphon.query.resumed"] is True
    assert (query.failed, chat.failed) == (True, True)
    assert (chat.start_s, chat.end_s) == (500.0, 502.0)
    assert {span.trace_id for span in found} == {query_id}
    assert chat.parent_id == query.span_id


def ignore(*_: object, **__: object) -> Any:
    """Takes nothing."""
