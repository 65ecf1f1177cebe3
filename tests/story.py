"""A query's commonest events with little content, for tests of the bus and the stores."""

from __future__ import annotations

from collections.abc import Sequence

from antiphon.vocabulary.events import (
    Event,
    QueryClosed,
    QueryReceived,
    Recorded,
    ResponseAssembled,
    Status,
    ToolSucceeded,
)
from antiphon.vocabulary.values import Passage, QuerySettings, StoredText, Usage

NOON = 1_700_000_000.0


def query_received(
    query: str = "What is recall?", session_id: str = "s1"
) -> QueryReceived:
    """A question."""
    return QueryReceived(query=query, session_id=session_id, settings=QuerySettings())


def response_assembled(answer: str = "A share.") -> ResponseAssembled:
    """An answer."""
    return ResponseAssembled(
        answer=answer,
        sources=(),
        source_links=(),
        citations=(),
        confidence="high",
        indicators=(),
        rounds=1,
        reasoner="offline",
        calls=2,
        usage=Usage(),
    )


def tool_succeeded(*texts: str, tool_call_id: str = "t1") -> ToolSucceeded:
    """A tool's result with one passage for each text."""
    passages = tuple(
        Passage(id=str(number), source="Course", text=StoredText(text))
        for number, text in enumerate(texts)
    )
    return ToolSucceeded(
        tool_call_id=tool_call_id,
        name="search",
        output=StoredText("found"),
        passages=passages,
        duration_ms=1.0,
    )


def answered(
    query: str, answer: str, session_id: str = "s1", status: Status = "answered"
) -> list[Event]:
    """A whole query: question, answer, end."""
    return [
        query_received(query, session_id),
        response_assembled(answer),
        QueryClosed(status=status),
    ]


def placed(
    query_id: str, events: Sequence[Event], after: int = 0, at: float = NOON
) -> list[Recorded[Event]]:
    """The events as a trace, a second apart, each caused by the one before."""
    return [
        Recorded(query_id=query_id, seq=seq, cause=seq - 1, at=at + seq, event=event)
        for seq, event in enumerate(events, start=after + 1)
    ]
