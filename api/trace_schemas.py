"""Bodies about traces, feedback and conversations as JSON, with examples."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from antiphon.api.schemas import RequestBody, Schema, SessionId, Text
from antiphon.service import MOST_TITLE_CHARS
from antiphon.vocabulary.feedback import MOST_NOTE_CHARS, Rating


class ClearRequest(RequestBody):
    """The conversation to forget."""

    session_id: SessionId = Field(examples=["s-5d1f0c2e"])


class ClearReply(Schema):
    """The conversation's exchanges are forgotten; its traces stay."""

    status: str = Field(examples=["ok"])
    session_id: str = Field(examples=["s-5d1f0c2e"])


class FeedbackReply(Schema):
    """Somebody's judgement of an answer."""

    rating: Rating
    note: str | None
    at: float = Field(description="When it was given, in seconds since the epoch.")


class TraceSummaryReply(Schema):
    """One line of the list of traces; `status` is `open` while the query runs."""

    query_id: str
    session_id: str
    query: str
    status: str
    started_at: float = Field(description="Seconds since the epoch.")
    duration_ms: float | None
    events: int
    confidence: str | None
    reasoner: str | None = Field(
        description="Who answered: a model's name, `offline`, or `none`."
    )
    parent: str | None = Field(
        None,
        description="The trace that this one is a fork of; null if it is not a fork.",
    )
    answer: str | None = Field(
        None,
        description="The first 200 characters of the answer; null until there is one.",
    )
    rounds: int | None = Field(None, description="Rounds of tool calls that were run.")
    input_tokens: int | None = Field(
        None,
        description="All that its calls read, cached or not, summarising calls included.",
    )
    output_tokens: int | None = Field(None, description="What they wrote.")
    cost_usd: float | None = Field(
        None, description="What they cost; null if a model's price is unknown."
    )
    feedback: FeedbackReply | None = None


class FeedbackRequest(RequestBody):
    """A judgement of an answer."""

    rating: Rating
    note: Annotated[Text, Field(max_length=MOST_NOTE_CHARS)] | None = Field(
        None, examples=["It names the wrong lesson."]
    )


class FeedbackStoredReply(Schema):
    """The feedback on an answer, as it is stored now."""

    query_id: str
    feedback: FeedbackReply | None


class ExchangeReply(Schema):
    """A question and its answer."""

    query_id: str = Field(description="Its trace.")
    question: str
    answer: str


class ConversationTraceReply(TraceSummaryReply):
    """One line of a conversation, at its place in it."""

    follows: str | None = Field(
        description="The query that it follows; null at the beginning."
    )
    versions: list[str] = Field(
        description="All queries that follow that one, in their order: this one, and other versions of it."
    )


class ConversationReply(Schema):
    """A stretch of a conversation: what was answered since it was last cleared, and the traces."""

    session_id: str
    title: str | None = Field(
        description="As in the list; null if nothing was asked since it was cleared."
    )
    exchanges: list[ExchangeReply] = Field(description="The oldest first.")
    traces: list[ConversationTraceReply] = Field(description="The newest first.")
    next: str | None = Field(
        description="Send as `before` for what came earlier; null at the beginning."
    )


class ConversationLineReply(Schema):
    """One line of the list of conversations."""

    session_id: str
    title: str = Field(
        description="What it was named, or the beginning of its first question.",
        examples=["What is BM25 good at?"],
    )
    exchanges: int = Field(description="Questions that were answered.")
    started_at: float = Field(
        description="When the first was asked, in seconds since the epoch."
    )
    last_at: float = Field(description="When the last was asked.")


class ConversationsReply(Schema):
    """Conversations, the last asked first."""

    conversations: list[ConversationLineReply]
    next: str | None = Field(
        description="Send as `before` for the next page; null at the end."
    )


class TitleRequest(RequestBody):
    """The name of a conversation."""

    title: Annotated[Text, Field(max_length=MOST_TITLE_CHARS)] = Field(
        examples=["Ranking"], json_schema_extra={"pattern": r"\S"}
    )


class TitleReply(Schema):
    """A conversation as it is called now."""

    session_id: str
    title: str


class TracesReply(Schema):
    """Traces, the newest first."""

    traces: list[TraceSummaryReply]
    next_before: float | None = Field(
        description="Send as `before` for the next page; null at the end."
    )
    next_after_id: str | None = Field(
        None,
        description="Send as `after_id` for the next page, which then skips none; null at the end.",
    )


class PeriodReply(Schema):
    """What the traces of one stretch of time come to."""

    since: float = Field(description="Its beginning, in seconds since the epoch.")
    until: float = Field(description="Its end, which belongs to the next one.")
    traces: int
    high: int = Field(description="Answers of high confidence.")
    medium: int
    low: int
    up: int = Field(description="Answers with a thumb up.")
    down: int
    cost_usd: float = Field(
        description="What the answers with a known price cost together."
    )
    unpriced: int = Field(description="Answers without a known price.")
    input_tokens: float
    output_tokens: float
    p50_ms: float | None = Field(
        description="Half of the queries took at most so long; null if none is over."
    )
    p95_ms: float | None = Field(description="95 of 100 took at most so long.")


class TrendsReply(Schema):
    """Quality and cost over time."""

    periods: list[PeriodReply] = Field(
        description="At most 60 of equal length without a gap, the oldest first; none if there is no trace."
    )


class DivergenceReply(Schema):
    """The first difference between a trace and its replay."""

    seq: int
    kind: str
    difference: str = Field(
        description="`code`, `order`, `schema`, `settings`, `time` or `fault`.",
        examples=["code"],
    )
    field: str = Field(examples=["facts[2].id"])
    recorded: str = Field(description="What the trace holds there, as JSON.")
    now: str = Field(description="The value now, as JSON.")
    chain: list[str] = Field(
        description="What led to it, nearest first.",
        examples=[["5 briefing_prepared"]],
    )
    detail: str


class ReplayReply(Schema):
    """The result of a replay."""

    query_id: str
    events: int
    compared: int = Field(
        description="Events that deciding components emitted, and that were compared."
    )
    verified: int = Field(
        description="Events of acting components that were derived again, and compared."
    )
    closed: bool
    divergence: DivergenceReply | None
    skipped: list[str] = Field(description="What could not be compared, and why.")


class TraceReply(Schema):
    """Every event of a query, in order."""

    query_id: str
    left_out: dict[str, list[str]] = Field(
        description="With `without_texts`: the fields that are left out, by the kind of event; else empty."
    )
    feedback: FeedbackReply | None
    events: list[dict[str, Any]] = Field(
        examples=[
            [
                {
                    "query_id": "q-0b8a4a7c",
                    "seq": 2,
                    "cause": 1,
                    "at": 1767225600.004,
                    "event": {
                        "kind": "round_opened",
                        "round": 1,
                        "call_id": "c1",
                        "final": False,
                        "rounds_left": 1,
                    },
                    "version": 1,
                }
            ]
        ]
    )
