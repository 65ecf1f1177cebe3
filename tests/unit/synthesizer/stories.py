"""Tells a synthesizer the events of a query, and keeps what it says."""

from __future__ import annotations

import json
from typing import Any

from antiphon.language.sentences import sentence_starts
from antiphon.synthesizer import ContextSynthesizer
from antiphon.vocabulary.events import (
    RULES,
    BriefingPrepared,
    ContextSynthesized,
    Event,
    QueryReceived,
    ReasoningCompleted,
    Recorded,
    RoundOpened,
    ToolRequested,
    ToolsSettled,
    ToolSucceeded,
)
from antiphon.vocabulary.values import (
    Exchange,
    Passage,
    QuerySettings,
    StoredText,
    ToolCall,
    Usage,
)


class Told:
    """A synthesizer with a list as its bus."""

    def __init__(self, *events: Event) -> None:
        self.published: list[Event] = []
        self.synthesizer = ContextSynthesizer(publish=self.published.append)
        self._seq = 0
        self.tell(*events)

    def tell(self, *events: Event) -> Told:
        for event in events:
            self._seq += 1
            self.synthesizer.hear(
                Recorded[Event](
                    query_id="q", seq=self._seq, cause=0, at=0.0, event=event
                )
            )
        return self

    @property
    def briefing(self) -> BriefingPrepared:
        """The last briefing said."""
        return [
            event for event in self.published if isinstance(event, BriefingPrepared)
        ][-1]

    @property
    def synthesized(self) -> ContextSynthesized:
        """The last account of a round said."""
        return [
            event for event in self.published if isinstance(event, ContextSynthesized)
        ][-1]


def blocks(briefing: BriefingPrepared) -> list[dict[str, Any]]:
    """The content blocks of a briefing's one message, read back from their JSON."""
    (message,) = briefing.messages
    return [json.loads(block.text) for block in message.content]


def kinds(briefing: BriefingPrepared) -> list[str]:
    """What each block is: a source, or by its first tag the notes, the conversation or the question."""
    found = []
    for block in blocks(briefing):
        kind = str(block["type"])
        if kind == "text":
            tag = str(block["text"]).split("\n", 1)[0].strip("<>")
            kind = tag if tag in ("conversation", "question") else "notes"
        found.append(kind)
    return found


def sources(briefing: BriefingPrepared) -> list[dict[str, Any]]:
    """The blocks of its sources."""
    return [block for block in blocks(briefing) if block["type"] == "search_result"]


def notes(briefing: BriefingPrepared) -> str:
    """The text of its block of notes, wherever that stands."""
    return _text(briefing, "notes")


def shown_question(briefing: BriefingPrepared) -> str:
    """The text of its block with the question, wherever that stands."""
    return _text(briefing, "question")


def shown_conversation(briefing: BriefingPrepared) -> str:
    """The text of its block with the conversation, wherever that stands."""
    return _text(briefing, "conversation")


def _text(briefing: BriefingPrepared, wanted: str) -> str:
    (text,) = [
        str(block["text"])
        for block, kind in zip(blocks(briefing), kinds(briefing), strict=True)
        if kind == wanted
    ]
    return text


def asked(
    query: str = "What is a log?",
    *,
    courses: str = "",
    budget: int = 6_000,
    history: tuple[Exchange, ...] = (),
    rules: int = RULES,
) -> QueryReceived:
    return QueryReceived(
        rules=rules,
        query=query,
        session_id="s",
        settings=QuerySettings(briefing_tokens=budget),
        courses=StoredText(courses),
        history=history,
    )


def opened(
    round_: int = 1, *, final: bool = False, left: int = 1, call_id: str | None = None
) -> RoundOpened:
    return RoundOpened(
        round=round_, call_id=call_id or f"call-{round_}", final=final, rounds_left=left
    )


def passage(
    text: str, *, lesson: int | None = 1, course: str = "Logs", score: float = 1.0
) -> Passage:
    return Passage(
        id=f"id of {text}",
        source=f"{course} - Lesson {lesson}",
        text=StoredText(text),
        starts=sentence_starts(text),
        course=course,
        lesson=lesson,
        score=score,
    )


def call(
    id_: str, arguments: str = '{"query": "log"}', name: str = "search_course_content"
) -> ToolCall:
    return ToolCall(id=id_, name=name, arguments=arguments)


def requested(*calls: ToolCall, round_: int = 1) -> tuple[ToolRequested, ...]:
    return tuple(
        ToolRequested(round=round_, call=call_, timeout_s=5.0) for call_ in calls
    )


def replied(
    *calls: ToolCall, text: str = "", thought: str = "", round_: int = 1
) -> ReasoningCompleted:
    content: tuple[StoredText, ...] = ()
    if thought:
        block = {"type": "thinking", "thinking": thought, "signature": "s"}
        content = (StoredText(json.dumps(block)),)
    return ReasoningCompleted(
        call_id=f"call-{round_}",
        round=round_,
        content=content,
        text=StoredText(text),
        tool_calls=calls,
        citations=(),
        stop_reason="tool_use",
        usage=Usage(),
        model="m",
        message_id="msg",
    )


def found(id_: str, *passages: Passage, output: str = "") -> ToolSucceeded:
    return ToolSucceeded(
        tool_call_id=id_,
        name="search_course_content",
        output=StoredText(output),
        passages=passages,
        duration_ms=1.0,
    )


def settled(
    *succeeded: str, failed: tuple[str, ...] = (), round_: int = 1
) -> ToolsSettled:
    return ToolsSettled(round=round_, succeeded=succeeded, failed=failed)


def round_of(*results: ToolSucceeded, round_: int = 1) -> tuple[Event, ...]:
    """A round in which each result's call was requested, in this order, and the round settled."""
    calls = [
        call(result.tool_call_id, f'{{"query": "{result.tool_call_id}"}}')
        for result in results
    ]
    ids = [result.tool_call_id for result in results]
    return (
        replied(*calls, round_=round_),
        *requested(*calls, round_=round_),
        *results,
        settled(*ids, round_=round_),
    )
