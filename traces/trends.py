"""Quality and cost over time: sums over the lines of the queries, in periods of equal length."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Sequence

from msgspec.structs import replace

from antiphon.traces.conditions import Conditions
from antiphon.vocabulary.ports import TraceFilter
from antiphon.vocabulary.trends import TracePeriod

MOST_PERIODS = 60
_DAY_S = 86_400
_STEPS_S = (60, 300, 900, 3_600, 21_600, _DAY_S, 7 * _DAY_S, 28 * _DAY_S)
_MONDAY = 4 * _DAY_S
"""The first Monday after the epoch: weeks begin on it, days at midnight."""

# An imported trace may claim any time: one beyond all calendars would squeeze all others into a single period.
_OF_A_CALENDAR = "queries.started_at BETWEEN 0 AND 253402300799"

# An imported trace may claim any cost and any duration too; `total` adds numbers of any size. The durations come
# unsorted: window functions that sort them take three times as long (1.2 s instead of 0.4 for 100,000 traces).
_PERIODS = """
    SELECT CAST((queries.started_at - ?) / ? AS INTEGER) AS period,
        json_group_array(max(0.0, min(duration_ms, 1e12))) FILTER (WHERE status != 'open') AS durations,
        count(*) AS traces,
        count(*) FILTER (WHERE confidence = 'high') AS high,
        count(*) FILTER (WHERE confidence = 'medium') AS medium,
        count(*) FILTER (WHERE confidence = 'low') AS low,
        count(*) FILTER (WHERE feedback = 'up') AS up,
        count(*) FILTER (WHERE feedback = 'down') AS down,
        total(max(0.0, min(cost_usd, 1e12))) AS cost_usd,
        count(*) FILTER (WHERE cost_usd IS NULL AND reasoner IS NOT NULL) AS unpriced,
        total(input_tokens) AS input_tokens,
        total(output_tokens) AS output_tokens
    {conditions} GROUP BY period
"""


def read_trends(
    connection: sqlite3.Connection,
    where: TraceFilter,
    utc_offset_s: int,
    label: str | None,
) -> list[TracePeriod]:
    """Sums up the traces with a label, or any label (None), in at most 60 contiguous periods, the oldest first.

    Args:
        utc_offset_s: How far the caller's clock is ahead of UTC: days begin at the caller's midnight.
    """
    wanted = Conditions(where, label)
    wanted.add(_OF_A_CALENDAR)
    ends = f"SELECT min(queries.started_at), max(queries.started_at) {wanted.sql}"
    oldest, newest = connection.execute(ends, wanted.values).fetchone()
    if oldest is None:
        return []
    step, first, number = _periods(oldest, newest, _MONDAY - utc_offset_s)
    # Queries that arrive between the two statements belong to none of these periods.
    wanted.add("queries.started_at >= ?", first)
    wanted.add("queries.started_at < ?", first + step * number)
    periods = [
        TracePeriod(since=first + step * place, until=first + step * (place + 1))
        for place in range(number)
    ]
    statement = _PERIODS.format(conditions=wanted.sql)
    summed = connection.execute(statement, [first, step, *wanted.values])
    _, _, *names = [column[0] for column in summed.description]
    for place, listed, *sums in summed:
        durations = sorted(json.loads(listed))
        periods[place] = replace(
            periods[place],
            p50_ms=_percentile(durations, 0.5),
            p95_ms=_percentile(durations, 0.95),
            **dict(zip(names, sums, strict=True)),
        )
    return periods


def _periods(oldest: float, newest: float, origin: int) -> tuple[int, int, int]:
    """Chooses the shortest periods that are few enough; returns their length, beginning and number."""
    longest = _STEPS_S[-1]
    enough = math.ceil((newest - oldest) / longest / (MOST_PERIODS - 1)) * longest
    for step in (*_STEPS_S, enough):
        before = math.floor((oldest - origin) / step)
        number = math.floor((newest - origin) / step) - before + 1
        if number <= MOST_PERIODS:
            break
    return step, origin + before * step, number


def _percentile(rising: Sequence[float], share: float) -> float | None:
    """Returns the smallest value that this share of the values does not exceed."""
    if not rising:
        return None
    return rising[math.ceil(share * len(rising)) - 1]
