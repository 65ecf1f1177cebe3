"""Routes for all recorded queries: their list, and their sums over time."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Query, Response
from msgspec.structs import replace
from pydantic import BaseModel, ConfigDict, Field

from antiphon.api.dependencies import Service
from antiphon.api.door import GuardedRoute, needs
from antiphon.api.refusals import UNAVAILABLE, WITH_TRACE
from antiphon.api.responses import JSON
from antiphon.api.trace_schemas import TracesReply, TraceSummaryReply, TrendsReply
from antiphon.service import FILTER_VALUES, Antiphon, check_filter
from antiphon.vocabulary.ports import TraceFilter, TraceSummary

router = APIRouter(route_class=GuardedRoute, prefix="/api", tags=["traces"])

MOST_TRACES = 500

Name = Annotated[str | None, Field(max_length=200)]
"""One value that traces are filtered by."""

Time = Annotated[float | None, Field(allow_inf_nan=False)]
"""Seconds since the epoch."""


def _one_of(name: str) -> dict[str, Any]:
    """Returns the values of a filter for its schema; `check_filter` refuses others."""
    return {"enum": [*FILTER_VALUES[name], None]}


class TraceConditions(BaseModel):
    """Every filter of `TraceFilter` under its own name (a test holds the two together)."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    since: Time = Field(None, description="Only those started at or after it.")
    until: Time = Field(
        None,
        description="Only those started before it; stays the same from page to page.",
    )
    status: Name = Field(None, json_schema_extra=_one_of("status"))
    confidence: Name = Field(None, json_schema_extra=_one_of("confidence"))
    session_id: Name = None
    indicator: Name = Field(
        None,
        description="The kind of a doubt, such as tool_failed.",
        json_schema_extra=_one_of("indicator"),
    )
    course: Name = Field(None, description="A course of which passages were found.")
    tool: Name = None
    text: Name = Field(
        None,
        description="Words of the question or the answer, all of which must be there.",
    )
    parent: Name = Field(None, description="The trace that they are forks of.")
    feedback: Name = Field(
        None,
        description="The rating of the answer, or `any`, or `none`.",
        json_schema_extra=_one_of("feedback"),
    )

    def filter(self) -> TraceFilter:
        """Returns the filter in the store's form."""
        wanted = {name: getattr(self, name) for name in TraceFilter.__struct_fields__}
        return TraceFilter(**wanted)


class TraceQuery(TraceConditions):
    """A page of the listing."""

    limit: int = Field(50, ge=1, le=MOST_TRACES, description="How many.", examples=[50])
    before: Time = Field(
        None, description="Only those started before it: seconds since the epoch."
    )
    after_id: Name = Field(None, description="Only those listed after this trace.")


class TrendsQuery(TraceConditions):
    """Whose sums are wanted, and by which clock."""

    utc_offset_s: int = Field(
        0,
        ge=-86_400,
        le=86_400,
        description="Seconds that your clock is ahead of UTC: days begin at its midnight.",
    )


def summary_reply(summary: TraceSummary) -> TraceSummaryReply:
    """Returns a line of the list in the API's form."""
    return TraceSummaryReply.model_validate(msgspec.to_builtins(summary))


@router.get(
    "/traces",
    summary="The traces, the newest first",
    responses=WITH_TRACE | UNAVAILABLE,
    dependencies=[needs("debug")],
)
async def list_traces(
    service: Service, wanted: Annotated[TraceQuery, Query()]
) -> TracesReply:
    """One line per query: the question, how the answer begins, what it took, how it was judged.

    `next_after_id` leads to the next page.
    """
    where = await _checked(wanted, service)
    after = wanted.after_id
    after_id = None if after is None else await service.find(after)
    found = await service.store.list(
        wanted.limit, wanted.before, after_id=after_id, where=where
    )
    summaries = list(map(summary_reply, found))
    # A full page may be the last; then the next one is empty.
    if len(found) < wanted.limit:
        return TracesReply(traces=summaries, next_before=None, next_after_id=None)
    last = found[-1]
    return TracesReply(
        traces=summaries, next_before=last.started_at, next_after_id=last.query_id
    )


@router.get(
    "/trends",
    summary="Quality and cost over time",
    response_model=TrendsReply,
    responses=WITH_TRACE | UNAVAILABLE,
    dependencies=[needs("debug")],
)
async def read_trends(
    service: Service, wanted: Annotated[TrendsQuery, Query()]
) -> Response:
    """Confidence, feedback, cost, tokens and duration of the traces that the list would hold, period by period.

    Periods are minutes, hours, days or weeks: the shortest of which 60 are enough.
    """
    where = await _checked(wanted, service)
    periods = await service.store.trends(where, wanted.utc_offset_s)
    return Response(msgspec.json.encode({"periods": periods}), media_type=JSON)


async def _checked(wanted: TraceConditions, service: Antiphon) -> TraceFilter:
    """Returns the filter, checked, with shortened ids made whole.

    Raises:
        BadInputError: No trace can meet the filter.
        NotFoundError: The parent is not a trace.
    """
    where = wanted.filter()
    check_filter(where)
    if where.parent is None:
        return where
    return replace(where, parent=await service.find(where.parent))
