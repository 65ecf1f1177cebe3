"""An outcome as its caller gets it."""

from __future__ import annotations

from msgspec.structs import asdict

from antiphon.api.query_schemas import (
    CitationReply,
    IndicatorReply,
    QueryAnswer,
    SummariesReply,
    UncertaintyReply,
    UsageReply,
)
from antiphon.service import Outcome
from antiphon.vocabulary.events import ResponseAssembled
from antiphon.vocabulary.values import Usage

__all__ = ["QueryAnswer", "answer_of", "strict_status"]


def strict_status(outcome: Outcome) -> int:
    """The HTTP status for a caller who takes an answer by the model or none: 504 where time ran out, 502 otherwise."""
    if outcome.status == "answered":
        return 200
    return 504 if any(doubt.kind == "deadline" for doubt in outcome.response.indicators) else 502


def answer_of(outcome: Outcome) -> QueryAnswer:
    """The JSON object of an answer, the same over HTTP, in a live stream and on the command line."""
    response = outcome.response
    return QueryAnswer(
        answer=response.answer,
        sources=list(response.sources),
        source_links=list(response.source_links),
        session_id=outcome.session_id,
        query_id=outcome.query_id,
        citations=[CitationReply(**asdict(citation)) for citation in response.citations],
        uncertainty=UncertaintyReply(
            confidence=response.confidence,
            indicators=[IndicatorReply(**asdict(indicator)) for indicator in response.indicators],
        ),
        rounds=response.rounds,
        reasoner=response.reasoner,
        usage=_usage(response),
        duration_ms=round(outcome.duration_ms, 1),
        status=outcome.status,
    )


def _usage(response: ResponseAssembled) -> UsageReply:
    summed = SummariesReply(calls=response.summaries, **asdict(response.summary_usage))
    return UsageReply(
        calls=response.calls, **asdict(response.usage), summaries=summed if _summed_up(response) else None
    )


def _summed_up(response: ResponseAssembled) -> bool:
    """Whether a summarising call was made, or used anything though it failed."""
    return response.summaries > 0 or response.summary_usage != Usage()
