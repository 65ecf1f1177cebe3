"""Delivers the events of a query to an assembler, and keeps the answer that it emits."""

from __future__ import annotations

from antiphon.assembler import ResponseAssembler
from antiphon.language.sentences import sentence_starts
from antiphon.vocabulary.events import (
    AnswerRequested,
    BriefingPrepared,
    ContextSynthesized,
    Event,
    QueryReceived,
    ReasoningCompleted,
    ReasoningStarted,
    Recorded,
    ResponseAssembled,
)
from antiphon.vocabulary.values import (
    Dropped,
    Fact,
    Passage,
    QuerySettings,
    ReplyCitation,
    Request,
    ShownSource,
    StoredText,
    ToolCall,
    Usage,
)


def assembled(*events: Event) -> ResponseAssembled:
    """The answer that the last of `events` brings; each event's `seq` is its place, from 1."""
    published: list[Event] = []
    assembler = ResponseAssembler(publish=published.append)
    for seq, event in enumerate(events, start=1):
        if type(event) in assembler.rules:
            assembler.hear(
                Recorded[Event](query_id="q", seq=seq, cause=0, at=0.0, event=event)
            )
    (answer,) = published
    assert isinstance(answer, ResponseAssembled)
    return answer


def asked(
    query: str = "What is a log?",
    reviewers: tuple[str, ...] = (),
    reasoner: str = "",
    settings: QuerySettings | None = None,
    rules: int = 1,
) -> QueryReceived:
    versions: tuple[tuple[str, str], ...] = ()
    if reasoner:
        versions = (("reasoner", reasoner),)
    return QueryReceived(
        query=query,
        session_id="s",
        settings=settings or QuerySettings(),
        reviewers=reviewers,
        versions=versions,
        rules=rules,
    )


def fact(
    id_: str, text: str, *, lesson: int = 1, starts: tuple[int, ...] | None = None
) -> Fact:
    passage = Passage(
        id=f"id of {id_}",
        source=f"Logs - Lesson {lesson}",
        text=StoredText(text),
        starts=sentence_starts(text) if starts is None else starts,
        course="Logs",
        lesson=lesson,
        link=f"https://logs.example/{lesson}",
    )
    return Fact(id=id_, passage=passage, tool_call_id="a", round=1)


def synthesized(
    *facts: Fact, open_parts: tuple[str, ...] = (), round_: int = 1
) -> ContextSynthesized:
    return ContextSynthesized(round=round_, facts=facts, open_parts=open_parts)


def briefed(
    *shown: tuple[str, tuple[int, ...]], call_id: str = "call-2", dropped: int = 0
) -> BriefingPrepared:
    return BriefingPrepared(
        call_id=call_id,
        round=2,
        messages=(),
        sources=tuple(
            ShownSource(fact_id=fact_id, sentences=sentences)
            for fact_id, sentences in shown
        ),
        facts=tuple(fact_id for fact_id, _ in shown),
        tokens=10,
        dropped=tuple(
            Dropped(what=f"f{n}", why="over the budget", tokens=9)
            for n in range(dropped)
        ),
    )


def started(reasoner: str = "claude", call_id: str = "call-2") -> ReasoningStarted:
    request = Request(model="m", max_tokens=9, system=StoredText("[]"), messages=())
    return ReasoningStarted(
        call_id=call_id, attempt=1, reasoner=reasoner, request=request
    )


def cites(
    start: int, end: int, source: int, blocks: tuple[int, int], text: str
) -> ReplyCitation:
    first, last = blocks
    return ReplyCitation(
        start=start,
        end=end,
        source=source,
        first_block=first,
        end_block=last,
        cited_text=text,
    )


def replied(
    text: str = "",
    *citations: ReplyCitation,
    call_id: str = "call-2",
    stop_reason: str = "end_turn",
    calls: tuple[ToolCall, ...] = (),
    usage: Usage = Usage(input_tokens=10, output_tokens=2),  # noqa: B008 - a frozen value
) -> ReasoningCompleted:
    return ReasoningCompleted(
        call_id=call_id,
        round=1,
        content=(),
        text=StoredText(text),
        tool_calls=calls,
        citations=citations,
        stop_reason=stop_reason,
        usage=usage,
        model="m",
        message_id="msg",
    )


def looked_up(*ids: str) -> ReasoningCompleted:
    """A reply that asks for tool calls."""
    calls = tuple(
        ToolCall(id=id_, name="search_course_content", arguments="{}") for id_ in ids
    )
    return replied(call_id="call-1", stop_reason="tool_use", calls=calls)


def answer() -> AnswerRequested:
    return AnswerRequested(mode="reply", call_id="call-2")


def partial(why: str = "the model could not be reached") -> AnswerRequested:
    return AnswerRequested(mode="partial", why=why)


def plainly(why: str = "the model could not be reached") -> AnswerRequested:
    return AnswerRequested(mode="plain", why=why)


def kinds(said: ResponseAssembled) -> list[str]:
    return [indicator.kind for indicator in said.indicators]
