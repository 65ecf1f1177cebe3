"""Plays the other components to a coordinator, and keeps what it emits."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from antiphon.coordinator import QueryCoordinator
from antiphon.vocabulary import events as e
from antiphon.vocabulary.values import (
    Fact,
    Passage,
    QuerySettings,
    StoredText,
    ToolCall,
    Usage,
)


class Scenario:
    """Plays the other components to one coordinator, and keeps what it emits."""

    def __init__(self, settings: QuerySettings | None = None, **received: Any) -> None:
        self.emitted: list[e.Event] = []
        self.coordinator = QueryCoordinator(self.emitted.append)
        self.seq = 0
        settings = settings or QuerySettings(early_dispatch=False)
        self.deliver(
            e.QueryReceived(
                query="What is BM25?", session_id="s", settings=settings, **received
            )
        )

    def deliver(self, *events: e.Event, at: float = 0.0) -> list[e.Event]:
        """Delivers events; returns what was emitted in answer to them."""
        before = len(self.emitted)
        for event in events:
            self.seq += 1
            recorded = e.Recorded(
                query_id="q", seq=self.seq, cause=0, at=at, event=event
            )
            self.coordinator.hear(recorded)
        return self.emitted[before:]

    def brief(self, at: float = 0.0, tokens: int = 1) -> list[e.Event]:
        state = self.coordinator.state
        prepared = e.BriefingPrepared(
            call_id=state.call_id,
            round=state.round,
            messages=(),
            sources=(),
            facts=(),
            tokens=tokens,
        )
        return self.deliver(prepared, at=at)

    def reply(
        self,
        *calls: ToolCall,
        text: str = "",
        stop_reason: str = "tool_use",
        at: float = 0.0,
        usage: Usage = Usage(input_tokens=10, output_tokens=2),  # noqa: B008 - a frozen value
        wasted: Usage = Usage(),  # noqa: B008 - a frozen value
        unreported: Usage = Usage(),  # noqa: B008 - a frozen value
    ) -> list[e.Event]:
        state = self.coordinator.state
        completed = e.ReasoningCompleted(
            call_id=state.call_id, round=state.round, content=(), text=StoredText(text), tool_calls=calls, citations=(),
            stop_reason=stop_reason, usage=usage, model="m", message_id="x", wasted=wasted,
            unreported=unreported,
        )  # fmt: skip
        return self.deliver(completed, at=at)

    def settle(
        self, *, facts: int = 1, failed: Iterable[str] = (), at: float = 0.0
    ) -> list[e.Event]:
        """The round's tools settle, all successfully but the `failed`, and bring new facts."""
        round_ = self.coordinator.state.round
        ids = self.coordinator.state.tool_call_ids
        failed = tuple(failed)
        settled = e.ToolsSettled(
            round=round_,
            succeeded=tuple(i for i in ids if i not in failed),
            failed=failed,
        )
        passage = Passage(id="p", source="S", text=StoredText("x"))
        found = tuple(
            Fact(id=f"f{n}", passage=passage, tool_call_id="t", round=round_)
            for n in range(facts)
        )
        return self.deliver(
            settled, e.ContextSynthesized(round=round_, facts=found), at=at
        )

    def fail(
        self,
        failure: e.FailureKind = "overloaded",
        usage: Usage = Usage(),  # noqa: B008 - a frozen value
        unreported: Usage = Usage(),  # noqa: B008 - a frozen value
    ) -> list[e.Event]:
        call_id = self.coordinator.state.call_id
        return self.deliver(
            e.ReasoningFailed(
                call_id=call_id,
                failure=failure,
                detail="529",
                usage=usage,
                unreported=unreported,
            )
        )


def call(number: int, **arguments: object) -> ToolCall:
    return ToolCall(
        id=f"t{number}",
        name="search",
        arguments=f'{{"query": "{arguments.get("query", number)}"}}',
    )


def kinds(events: Iterable[e.Event]) -> list[str]:
    return [event.kind_name() for event in events]


def limits(events: Iterable[e.Event]) -> list[str]:
    return [event.limit for event in events if isinstance(event, e.BreakerTripped)]
