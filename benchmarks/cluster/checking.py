"""The checks on traces after everything was killed once: whole, ended once, nothing double."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from benchmarks.cluster.asking import Json

ENDED = "query_closed"
RESUMED = "query_resumed"
ASKED = "reasoning_requested"
STARTED = "reasoning_started"
OUTCOMES = ("reasoning_completed", "reasoning_failed")


@dataclass
class Findings:
    """The findings in all traces.

    Attributes:
        wrong: A line for each trace that breaks a promise.
        resumed: How often a worker resumed a query that another had begun.
        repeated: Model calls that began more than once.
        calls: Model calls with an outcome.
    """

    traces: int = 0
    events: int = 0
    resumed: int = 0
    repeated: int = 0
    calls: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def take(self, query_id: str, events: Sequence[Json]) -> None:
        """Checks one trace."""
        self.traces += 1
        self.events += len(events)
        for problem in problems_of(events):
            self.wrong.append(f"{query_id}: {problem}")
        kinds = Counter(event["kind"] for event in events)
        # The first one is the worker that took the query from the queue.
        self.resumed += max(0, kinds[RESUMED] - 1)
        self.calls += sum(kinds[kind] for kind in OUTCOMES)
        self.repeated += repeated_calls(events)
        for event in events:
            if event["kind"] == ENDED:
                self.statuses[event["status"]] += 1


def problems_of(events: Sequence[Json]) -> list[str]:
    """Returns the problems of a trace, a line each."""
    return [*problems_of_order(events), *problems_of_outcomes(events)]


def problems_of_order(events: Sequence[Json]) -> list[str]:
    """Returns the problems with the numbers of events, their causes, and their end."""
    problems: list[str] = []
    numbers = [event["seq"] for event in events]
    if numbers != list(range(1, len(events) + 1)):
        problems.append(f"its events are numbered {numbers}")
    ends = [event["seq"] for event in events if event["kind"] == ENDED]
    if ends != [len(events)]:
        problems.append(f"it ends at {ends} of {len(events)}")
    for event in events:
        if not 0 <= event["cause"] < event["seq"]:
            problems.append(f"event {event['seq']} is caused by {event['cause']}")
    return problems


def problems_of_outcomes(events: Sequence[Json]) -> list[str]:
    """Returns the calls with more than one outcome."""
    outcomes: Counter[str] = Counter()
    for event in events:
        if event["kind"] in OUTCOMES:
            outcomes[event["call_id"]] += 1
    return [
        f"{call_id} has {count} outcomes"
        for call_id, count in outcomes.items()
        if count > 1
    ]


def repeated_calls(events: Sequence[Json]) -> int:
    """Counts the calls that began again because their worker was gone; the engine's retries do not count."""
    repeated = 0
    begun: set[str] = set()
    done: set[str] = set()
    for event in events:
        kind = event["kind"]
        if kind == STARTED:
            begun.add(event["call_id"])
        elif kind in OUTCOMES:
            done.add(event["call_id"])
        elif kind == RESUMED:
            repeated += len(begun - done)
            begun.clear()
    return repeated
