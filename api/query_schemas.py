"""A question and its answer as JSON, with the examples that the API's documentation shows."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec.structs import asdict
from pydantic import ConfigDict, Field, JsonValue, StrictBool

from antiphon.api.schemas import RequestBody, Schema, SessionId, Text, WholeNumber
from antiphon.service import Outcome, Question
from antiphon.vocabulary.events import Confidence, ResponseAssembled, Status
from antiphon.vocabulary.settings import DECLARED, WISHES
from antiphon.vocabulary.values import Usage


def _wish(name: str) -> Any:
    """Returns the field for one setting that a caller may choose, as vocabulary/settings.py declares it.

    The schema only shows its bounds; the service itself refuses a value outside them, in the same words as in Python.
    """
    declared = DECLARED[name]
    assert declared.wish is not None
    most = ", which is the most" if declared.wish.lower_only else ""
    description = f"{declared.sentence[:-1]}; null is the service's setting{most}."
    options: dict[str, Any] = {}
    # Strict, because "2" and true are not numbers.
    if declared.is_float:
        options |= {"strict": True, "allow_inf_nan": False}
    bounds = {"minimum": declared.setting.least, "maximum": declared.most_wished}
    options["json_schema_extra"] = {
        name: bound for name, bound in bounds.items() if bound is not None
    }
    if declared.default is not None:
        options["examples"] = [declared.default]
    return Field(None, description=description, **options)


class QueryRequest(RequestBody):
    """A question."""

    query: Text = Field(
        description="The question, in any words.",
        examples=["What is BM25 good at?"],
        json_schema_extra={"pattern": r"[^\s\x00-\x1f\x85]"},
    )
    session_id: SessionId | None = Field(
        None,
        description="The conversation, as an earlier answer named it; null starts a new one.",
    )
    follows: Annotated[str, Field(max_length=200)] | None = Field(
        None,
        description='The query of the conversation that the question follows; "": none of them. It becomes a version '
        "of what was asked there before, and the conversation goes on behind it. Null: the last one that was asked.",
    )
    # The settings that a caller may choose; a test checks that these fields are those of `WISHES`.
    max_rounds: WholeNumber | None = _wish("max_rounds")
    deadline_s: float | None = _wish("deadline_s")
    compression: Literal["extractive", "model"] | None = _wish("compression")
    max_total_tokens: WholeNumber | None = _wish("max_total_tokens")
    max_cost_usd: float | None = _wish("max_cost_usd")
    html: StrictBool = Field(
        False,
        description="Send the answer as safe HTML too, its citations as numbered marks.",
    )
    strict: StrictBool = Field(
        False,
        description="Answer 502 (504 if time ran out) with the same body if no model answered.",
    )
    faults: dict[str, JsonValue] | None = Field(
        None,
        description="A fault plan (docs/faults.md); refused unless the service was started with --allow-faults.",
    )

    def question(self) -> Question:
        """Returns the question in the service's own form."""
        wishes = {name: getattr(self, name) for name in WISHES}
        return Question(
            query=self.query,
            session_id=self.session_id,
            follows=self.follows,
            **wishes,
        )


class CitationReply(Schema):
    """A span of the answer and the words that it rests on."""

    start: int = Field(
        description="The offset in `answer` at which the claim begins, in characters."
    )
    end: int = Field(description="The offset at which it ends (exclusive).")
    cited_text: str = Field(description="Exact words of the passage.")
    source: str
    course: str | None
    lesson: int | None
    place: str | None = Field(
        description='The place in its file at which the cited text begins: "page 3", "at 12:05", a heading.'
    )
    link: str | None
    fact: str = Field(description="The fact's id in the trace.")


class IndicatorReply(Schema):
    """One reason for doubt; `event_seq` names the event that it rests on."""

    kind: str
    detail: str
    event_seq: int


class UncertaintyReply(Schema):
    """The confidence in the answer, and the reasons for doubt."""

    confidence: Confidence
    indicators: list[IndicatorReply]


class SummariesReply(Schema):
    """Summarising calls and their tokens."""

    calls: int
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    cost_usd: float | None


class UsageReply(Schema):
    """Reasoning calls and their tokens; all input = input + cache read + cache write."""

    calls: int
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    cost_usd: float | None = Field(
        None, description="What they cost; null if a model's price is unknown."
    )
    summaries: SummariesReply | None = Field(
        None,
        exclude_if=lambda value: value is None,
        description="Summarising calls, counted separately; left out if there were none.",
    )


class QueryAnswer(Schema):
    """The answer to a question, and its sources."""

    answer: str
    html: str | None = Field(
        None,
        exclude_if=lambda value: value is None,
        description="With `html` alone: the answer's Markdown as HTML without links, images or scripts; behind each "
        'cited span is `<sup data-citation="I">N</sup>`, I its place in `citations`, N that of its source, from 1.',
    )
    sources: list[str] = Field(
        description="The cited sources, in order, without repeats."
    )
    source_links: list[str | None] = Field(
        description="The link of each source; null if it has none."
    )
    session_id: str = Field(
        description="The conversation: send it with the next question."
    )
    query_id: str = Field(description="The trace's id.")
    citations: list[CitationReply]
    uncertainty: UncertaintyReply
    rounds: int = Field(description="Rounds of tool calls that were run.")
    reasoner: str = Field(
        description="Who answered: a model's name, `offline`, or `none`."
    )
    usage: UsageReply
    duration_ms: float
    status: Status

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "answer": "BM25 is strong where exact words matter.",
                    "sources": ["Practical Information Retrieval - Lesson 2"],
                    "source_links": [
                        "https://antiphon.example/courses/information-retrieval/2"
                    ],
                    "session_id": "s-5d1f0c2e",
                    "query_id": "q-0b8a4a7c",
                    "citations": [
                        {
                            "start": 0,
                            "end": 40,
                            "cited_text": "BM25 is strong where exact words matter.",
                            "source": "Practical Information Retrieval - Lesson 2",
                            "course": "Practical Information Retrieval",
                            "lesson": 2,
                            "link": "https://antiphon.example/courses/information-retrieval/2",
                            "fact": "f1",
                        }
                    ],
                    "uncertainty": {"confidence": "high", "indicators": []},
                    "rounds": 1,
                    "reasoner": "offline",
                    "usage": {
                        "calls": 2,
                        "input_tokens": 1840,
                        "output_tokens": 96,
                        "cache_read_tokens": 0,
                        "cache_write_tokens": 0,
                        "cost_usd": 0.0,
                    },
                    "duration_ms": 41.7,
                    "status": "answered",
                }
            ]
        }
    )


def answer_of(outcome: Outcome, html: str | None = None) -> QueryAnswer:
    """Builds the JSON object of an answer, the same over HTTP, in a live stream and on the command line.

    Args:
        html: The answer as HTML, if the caller wants it (`html_of`).
    """
    response = outcome.response
    return QueryAnswer(
        answer=response.answer,
        html=html,
        sources=list(response.sources),
        source_links=list(response.source_links),
        session_id=outcome.session_id,
        query_id=outcome.query_id,
        citations=[
            CitationReply(**asdict(citation)) for citation in response.citations
        ],
        uncertainty=UncertaintyReply(
            confidence=response.confidence,
            indicators=[
                IndicatorReply(**asdict(indicator)) for indicator in response.indicators
            ],
        ),
        rounds=response.rounds,
        reasoner=response.reasoner,
        usage=_usage(response),
        duration_ms=round(outcome.duration_ms, 1),
        status=outcome.status,
    )


def _usage(response: ResponseAssembled) -> UsageReply:
    summaries: SummariesReply | None = None
    # Also without a summary: a summarising call that failed may have used tokens.
    if response.summaries > 0 or response.summary_usage != Usage():
        summaries = SummariesReply(
            calls=response.summaries, **asdict(response.summary_usage)
        )
    return UsageReply(
        calls=response.calls, **asdict(response.usage), summaries=summaries
    )


class WaitingReply(Schema):
    """An event that a query waits for: who owes it, and since when (seconds since the epoch)."""

    who: str = Field(examples=["engine"])
    event: str = Field(examples=["reasoning_completed or reasoning_failed"])
    about: str = Field(
        description="The call or round; empty if there is only one.", examples=["c1"]
    )
    since_seq: int = Field(description="The event that requested it.", examples=[4])
    since_at: float


class RunningReply(Schema):
    """A query under way and what it waits for."""

    query_id: str
    waiting_for: list[WaitingReply]


class RunningQueriesReply(Schema):
    """The queries under way."""

    queries: list[RunningReply]


class QueryBegun(Schema):
    """A question that was taken; its answer is fetched later."""

    query_id: str
    session_id: str = Field(
        description="The conversation: send it with the next question; empty if the question was asked before."
    )
    status: str = Field(examples=["queued"])


class QueryState(Schema):
    """The state of a question that was taken."""

    query_id: str
    session_id: str
    status: str = Field(
        description="`queued`, `running`, `interrupted`; or how it ended: as in `QueryAnswer`.",
        examples=["answered"],
    )
    answer: QueryAnswer | None = Field(description="Null until it has ended.")
