"""Routes for the service itself: its courses, its health and its sums."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from fastapi import APIRouter, Query, Response
from fastapi.responses import PlainTextResponse
from msgspec.structs import asdict
from pydantic import Field

from antiphon.api.dependencies import Caller, Service
from antiphon.api.door import OPEN_TO_ALL, GuardedRoute, needs
from antiphon.api.refusals import FORBIDDEN, UNAVAILABLE
from antiphon.api.schemas import (
    AliveReply,
    CourseReply,
    CoursesReply,
    EventKindReply,
    EventKindsReply,
    FormatReply,
    FormatsReply,
    LessonReply,
    QuerySettingReply,
    QuerySettingsReply,
    ReadinessReply,
    Schema,
    SuggestionReply,
    SuggestionsReply,
)
from antiphon.api.telemetry import shows_metrics
from antiphon.service import Totals, formats
from antiphon.vocabulary.errors import ForbiddenError

router = APIRouter(route_class=GuardedRoute)

SUGGESTIONS = 4
MOST_SUGGESTIONS = 20

_NOT_READY: dict[int | str, dict[str, Any]] = {
    503: {
        "model": ReadinessReply,
        "description": "Questions cannot be answered now; `problems` says why.",
    }
}


@router.get(
    "/api/courses",
    summary="The courses",
    tags=["courses"],
    dependencies=[needs("ask")],
)
async def list_courses(service: Service) -> CoursesReply:
    """The indexed courses, with their lessons."""
    found = service.courses()
    with_layout = await service.layouts.titles()
    replies: list[CourseReply] = []
    for course in found:
        lessons = [
            LessonReply(number=each.number, title=each.title, link=each.link)
            for each in course.lessons
        ]
        reply = CourseReply(
            title=course.title,
            link=course.link,
            instructor=course.instructor,
            lessons=lessons,
            language=course.language,
            losses=list(course.losses),
            has_layout=course.title in with_layout,
        )
        replies.append(reply)
    return CoursesReply(
        total_courses=len(found),
        course_titles=[course.title for course in found],
        courses=replies,
    )


@router.get(
    "/api/formats",
    summary="The formats of documents",
    tags=["courses"],
    dependencies=[needs("ask")],
)
async def list_formats() -> FormatsReply:
    """The formats that documents may have, those of your own readers among them."""
    listed = [
        FormatReply(name=each.name, suffixes=list(each.suffixes), places=each.places)
        for each in formats()
    ]
    return FormatsReply(formats=listed)


@router.get(
    "/api/suggestions",
    summary="Questions to begin with",
    tags=["courses"],
    dependencies=[needs("ask")],
)
async def list_suggestions(
    service: Service,
    limit: Annotated[
        int, Query(ge=1, le=MOST_SUGGESTIONS, description="How many.")
    ] = SUGGESTIONS,
) -> SuggestionsReply:
    """Questions that the indexed courses answer, from as many courses as possible. No model is called."""
    found = await service.suggestions(limit)
    return SuggestionsReply(
        suggestions=[SuggestionReply(**asdict(each)) for each in found]
    )


@router.get(
    "/api/events",
    summary="The kinds of events",
    tags=["traces"],
    dependencies=[needs("debug")],
)
async def list_event_kinds(service: Service) -> EventKindsReply:
    """What each kind of event means, who emits it and who hears it, including events of subscribers."""
    return EventKindsReply(
        kinds=[EventKindReply(**asdict(each)) for each in service.event_kinds()]
    )


@router.get(
    "/api/settings",
    summary="The settings of a query",
    tags=["traces"],
    dependencies=[needs("debug")],
)
async def list_query_settings(service: Service) -> QuerySettingsReply:
    """Every setting of a query with the service's own value, and how a fork may change it."""
    return QuerySettingsReply(
        settings=[
            QuerySettingReply(**asdict(each)) for each in service.query_settings()
        ]
    )


class LimitsReply(Schema):
    """The most of a day (UTC); null: no limit. `at_once` is of queries under way."""

    requests: int | None
    tokens: int | None
    cost_usd: float | None
    at_once: int | None


class UsedReply(Schema):
    """What was spent."""

    requests: int
    tokens: int
    cost_usd: float


class ShareReply(Schema):
    """What a key or a tenant has used today, of how much."""

    holder: Literal["key", "tenant"]
    name: str = Field(description="The key's id, or the tenant.", examples=["acme"])
    limits: LimitsReply
    used: UsedReply
    set_aside: UsedReply = Field(
        description="What its running queries may still use; it counts as used until they end."
    )
    at_once: int = Field(description="Its running queries.")
    forecast: UsedReply = Field(
        description="Forecast for the end of the day, at the rate so far."
    )


class CallerUsageReply(Schema):
    """Who the caller is, and their shares of the day; empty if callers have no keys, and nothing is counted."""

    tenant: str = Field(examples=["acme"])
    scopes: list[str] = Field(description="What the caller may do.", examples=[["ask"]])
    day: str = Field(examples=["2026-11-23"])
    resets_at: float = Field(description="Seconds since the epoch.")
    shares: list[ShareReply]


@router.get(
    "/api/usage",
    summary="What was used today",
    tags=["health"],
    responses=UNAVAILABLE,
    dependencies=[needs("ask")],
)
async def read_usage(service: Service, caller: Caller) -> CallerUsageReply:
    """What the caller's key and tenant have used of their limits, and when the count resets."""
    report = await service.usage()
    return CallerUsageReply.model_validate(
        msgspec.to_builtins(report)
        | {"tenant": caller.tenant, "scopes": sorted(caller.scopes)}
    )


@router.get(
    "/healthz",
    summary="Is the process alive?",
    tags=["health"],
    dependencies=[OPEN_TO_ALL],
)
async def check_alive() -> AliveReply:
    """Answers as long as the process lives, without asking the index or the reasoner."""
    return AliveReply(status="ok")


@router.get(
    "/readyz",
    summary="Can questions be answered?",
    tags=["health"],
    responses=_NOT_READY,
    dependencies=[OPEN_TO_ALL],
)
async def check_ready(service: Service, response: Response) -> ReadinessReply:
    """200 while questions can be stored, searched for and answered, by what was done or tried in the last seconds.

    Otherwise 503 with the problems in words; also until the embedder is loaded, for which questions wait.
    `warnings` names a key that the model's server refuses; the built-in reasoner answers then.
    """
    readiness = await service.check_readiness()
    if not readiness.ready:
        response.status_code = 503
    return ReadinessReply.model_validate(msgspec.to_builtins(readiness))


@router.get(
    "/metrics",
    summary="Sums since the process began",
    tags=["health"],
    response_class=PlainTextResponse,
    responses=FORBIDDEN,
    dependencies=[needs("admin")],
)
async def read_metrics(service: Service) -> PlainTextResponse:
    """Queries by status, calls, seconds, tokens by kind, and the share of input read from the cache.

    With `ANTIPHON_METRICS=prometheus` all metrics of docs/telemetry.md. On a network address it answers only if
    that setting asks for it.
    """
    if not shows_metrics(service.settings):
        raise ForbiddenError(
            "The metrics are not shown on a network address: set ANTIPHON_METRICS to `sums` or `prometheus`."
        )
    metrics = service.metrics
    shown = as_text(service.totals) if metrics is None else await metrics.scrape()
    return PlainTextResponse(shown, media_type="text/plain; version=0.0.4")


def as_text(totals: Totals) -> str:
    """Writes the sums in the text format that Prometheus reads
    (https://prometheus.io/docs/instrumenting/exposition_formats/)."""
    usage, summed = totals.usage, totals.summary_usage
    tokens = {
        "input": usage.input_tokens,
        "output": usage.output_tokens,
        "cache_read": usage.cache_read_tokens,
        "cache_write": usage.cache_write_tokens,
        "summary_input": summed.all_input_tokens,
        "summary_output": summed.output_tokens,
    }
    lines = ["# TYPE antiphon_queries_total counter"]
    for status, count in sorted(totals.queries.items()):
        lines.append(f'antiphon_queries_total{{status="{status}"}} {count}')
    lines += [
        "# TYPE antiphon_query_seconds_total counter",
        f"antiphon_query_seconds_total {totals.seconds:.3f}",
        "# TYPE antiphon_reasoning_calls_total counter",
        f"antiphon_reasoning_calls_total {totals.calls}",
        "# TYPE antiphon_summarising_calls_total counter",
        f"antiphon_summarising_calls_total {totals.summaries}",
        "# TYPE antiphon_tokens_total counter",
    ]
    for kind, count in tokens.items():
        lines.append(f'antiphon_tokens_total{{kind="{kind}"}} {count}')
    lines += [
        "# TYPE antiphon_cached_input_share gauge",
        f"antiphon_cached_input_share {usage.cached_share:.4f}",
    ]
    return "\n".join([*lines, ""])
