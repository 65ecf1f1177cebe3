"""Sums of traces over time: those of each period are those of its traces, under any filter and by any clock."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from antiphon.vocabulary.events import Event, QueryClosed, QueryResumed
from antiphon.vocabulary.feedback import Feedback
from antiphon.vocabulary.ports import TraceFilter, TraceStore, WholeTraceStore
from antiphon.vocabulary.trends import TracePeriod
from antiphon.vocabulary.values import Usage
from tests.story import placed, query_received, response_assembled
from tests.trace_stores import kind, nats_url, store

__all__ = ["kind", "nats_url", "store"]

MIDNIGHT = 1_767_225_600.0
"""Of a Thursday, by UTC."""
MINUTE, HOUR, DAY = 60, 3_600, 86_400


def asked(
    confidence: str = "high", cost_usd: float | None = 0.25, tokens: int = 100
) -> list[Event]:
    usage = Usage(input_tokens=tokens, output_tokens=tokens // 10, cost_usd=cost_usd)
    answer = replace(
        response_assembled("By appending."),
        confidence=confidence,
        usage=usage,
        summary_usage=Usage(),
    )
    return [query_received("How do logs grow?"), answer]


async def ask(
    store: TraceStore, query_id: str, at: float, took_ms: float | None, *asked: Event
) -> None:
    """Stores a query that was asked at this time and took so long; None: it is not over."""
    events = [replace(each, at=at) for each in placed(query_id, asked)]
    if took_ms is not None:
        [end] = placed(query_id, [QueryClosed(status="answered")], after=len(events))
        events.append(replace(end, at=at + took_ms / 1000))
    await store.append(query_id, 0, events)


def in_whole_ms(period: TracePeriod) -> TracePeriod:
    """Durations are the differences of times, which are not exact."""
    assert period.p50_ms is not None
    assert period.p95_ms is not None
    return replace(period, p50_ms=round(period.p50_ms), p95_ms=round(period.p95_ms))


async def test_each_period_sums_up_its_own_traces_and_empty_ones_stay(
    store: WholeTraceStore,
) -> None:
    at = MIDNIGHT + 9 * HOUR
    for number in range(20):
        await ask(store, f"q{number}", at + number, 100.0 * (number + 1), *asked())
    await ask(store, "low", at + 2 * HOUR, 8.0, *asked("low", None, 40))
    await ask(store, "open", at + 2 * HOUR, None, query_received("And now?"))
    await store.annotations.set_feedback("q1", Feedback(rating="up", at=at))
    await store.annotations.set_feedback("low", Feedback(rating="down", at=at))

    periods = await store.trends(TraceFilter())

    step = periods[0].until - periods[0].since
    assert step == 5 * MINUTE
    assert [each.since for each in periods] == [at + step * n for n in range(25)]
    assert in_whole_ms(periods[0]) == TracePeriod(
        since=at,
        until=at + step,
        traces=20,
        high=20,
        up=1,
        cost_usd=5.0,
        input_tokens=2_000.0,
        output_tokens=200.0,
        p50_ms=1_000,
        p95_ms=1_900,
    )
    assert periods[1] == TracePeriod(since=at + step, until=at + 2 * step)
    assert in_whole_ms(periods[-1]) == TracePeriod(
        since=at + 2 * HOUR,
        until=at + 2 * HOUR + step,
        traces=2,
        low=1,
        down=1,
        unpriced=1,
        input_tokens=40.0,
        output_tokens=4.0,
        p50_ms=8,
        p95_ms=8,
    )


@pytest.mark.parametrize(
    ("where", "traces"),
    [
        (TraceFilter(), 3),
        (TraceFilter(confidence="low"), 1),
        (TraceFilter(since=MIDNIGHT + 60), 2),
        (TraceFilter(until=MIDNIGHT + 60), 1),
        (TraceFilter(text="nowhere"), 0),
        (TraceFilter(tool="search"), 0),
    ],
)
async def test_the_filters_of_the_list_select_what_is_summed_up(
    store: WholeTraceStore, where: TraceFilter, traces: int
) -> None:
    for number, confidence in enumerate(("high", "low", "high")):
        at = MIDNIGHT + 60 * number
        await ask(store, f"q{number}", at, 1.0, *asked(confidence))

    periods = await store.trends(where)

    assert sum(each.traces for each in periods) == traces
    assert len(await store.list(where=where)) == traces


async def test_only_the_tenants_own_traces_are_summed_up(
    store: WholeTraceStore,
) -> None:
    await ask(store.seen_by("ours"), "q1", MIDNIGHT, 1.0, *asked())

    assert sum(each.traces for each in await store.trends(TraceFilter())) == 1
    assert await store.seen_by("theirs").trends(TraceFilter()) == []
    [own] = await store.seen_by("ours").trends(TraceFilter())
    assert own.traces == 1


@pytest.mark.parametrize(
    ("span_s", "offset_s", "step_s", "first"),
    [
        (0, 0, MINUTE, MIDNIGHT),
        (50 * HOUR, 0, HOUR, MIDNIGHT),
        (50 * DAY, 0, DAY, MIDNIGHT),
        # By a clock two hours ahead the day began two hours earlier.
        (50 * DAY, 2 * HOUR, DAY, MIDNIGHT - 2 * HOUR),
        (50 * DAY, -5 * HOUR, DAY, MIDNIGHT - DAY + 5 * HOUR),
        # A week begins on its Monday.
        (300 * DAY, 0, 7 * DAY, MIDNIGHT - 3 * DAY),
    ],
)
async def test_periods_are_the_shortest_that_are_few_enough_and_begin_by_the_callers_clock(
    store: WholeTraceStore, span_s: float, offset_s: int, step_s: float, first: float
) -> None:
    await ask(store, "first", MIDNIGHT, 1.0, *asked())
    await ask(store, "last", MIDNIGHT + span_s, 1.0, *asked())

    periods = await store.trends(TraceFilter(), offset_s)

    assert len(periods) <= 60
    assert periods[0].since == first
    assert periods[0].until - first == step_s
    assert periods[0].traces + (periods[-1].traces if span_s else 0) == 2


async def test_a_trace_that_claims_absurd_numbers_spoils_no_sum(
    store: WholeTraceStore,
) -> None:
    for number, at in enumerate((-1e300, 0.0, 250_000_000_000.0, 1e300)):
        events = asked(cost_usd=1e308, tokens=2**62)
        await ask(store, f"q{number}", at, 1e308, *events)

    periods = await store.trends(TraceFilter())

    assert len(periods) <= 60
    # No calendar has the times of the first and the last.
    assert sum(each.traces for each in periods) == 2
    assert periods[0].cost_usd == periods[-1].p95_ms == 1e12
    assert periods[0].input_tokens == pytest.approx(2**62)


@pytest.mark.parametrize(
    ("away_s", "took_ms"), [(9.0, 1_000), (1e308, 0), (-5, 10_000)]
)
async def test_the_duration_of_a_query_excludes_the_time_in_which_nobody_worked_on_it(
    store: WholeTraceStore, away_s: float, took_ms: float
) -> None:
    resumed = [*asked(), QueryResumed(away_s=away_s, why="killed")]
    await ask(store, "q1", MIDNIGHT, None, *resumed)
    [line] = await store.list()
    [period] = await store.trends(TraceFilter())
    assert (line.duration_ms, period.p50_ms) == (None, None)

    [end] = placed("q1", [QueryClosed(status="answered")], after=len(resumed))
    await store.append("q1", len(resumed), [replace(end, at=MIDNIGHT + 10)])

    [line] = await store.list()
    [period] = await store.trends(TraceFilter())
    assert line.duration_ms == period.p50_ms == took_ms
