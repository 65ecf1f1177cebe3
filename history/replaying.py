"""Replays a recorded query: runs the deciding components over its trace, and compares every event that they emit.

Also recomputes and compares the events that acting components derived from recorded ones (`verifying.py`). Pure: it
uses no model, tool, index, clock or network, because their output is in the trace.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from msgspec.structs import replace

from antiphon.composition import catalog_of, missing_subscribers
from antiphon.history.divergence import Divergence
from antiphon.history.missing_settings import setting_that_explains
from antiphon.history.replay_run import Form, ReplayRun, Subscribers, Trace
from antiphon.traces import from_json
from antiphon.vocabulary.errors import DecodeError
from antiphon.vocabulary.events import Event, QueryClosed, QueryReceived, Recorded
from antiphon.vocabulary.values import StoredText, Value


class ReplayResult(Value, frozen=True, kw_only=True):
    """The outcome of a replay.

    Attributes:
        events: The number of events in the trace.
        compared: The number of deciding components' events that were compared.
        verified: The number of acting components' events that were recomputed and compared.
        closed: True if the trace has its end; an open one is replayed as far as it goes.
        divergence: The first difference, or None if there is none.
        skipped: The parts that could not be compared, and why.
    """

    query_id: str
    events: int
    compared: int
    closed: bool
    divergence: Divergence | None = None
    verified: int = 0
    skipped: tuple[str, ...] = ()


def replay(
    events: Trace,
    forms: Sequence[Form] | None = None,
    subscribers: Subscribers = (),
    tools: StoredText | None = None,
) -> ReplayResult:
    """Replays a trace up to its first difference.

    Args:
        forms: Each event in the trace's form, so that fields newer than the trace are not compared.
        subscribers: The components from outside that took part when the query was recorded.
        tools: The definitions of today's tools; None: they are not compared.
    """
    result = _replay_once(events, forms, subscribers, tools)
    result = _with_missing_setting(result, events, forms, subscribers)
    result = _with_faults(result, events)
    return with_missing(result, _versions(events), subscribers)


def _with_faults(result: ReplayResult, events: Trace) -> ReplayResult:
    """Classes a difference as `fault` if the trace says that the query was broken on purpose."""
    first = events[0].event
    divergence = result.divergence
    if divergence is None or divergence.difference != "code":
        return result
    if not isinstance(first, QueryReceived) or not first.faults:
        return result
    return replace(result, divergence=replace(divergence, difference="fault"))


def _replay_once(
    events: Trace,
    forms: Sequence[Form] | None,
    subscribers: Subscribers,
    tools: StoredText | None = None,
) -> ReplayResult:
    run = ReplayRun(events, forms, subscribers, tools)
    # Reports only the first difference, from which the later ones mostly follow.
    for recorded in events:
        divergence = run.step(recorded)
        if divergence is not None:
            break
    else:
        # A difference in our own events comes first, because a missing subscriber does not excuse it.
        divergence = run.left_over() or run.unknown
    return ReplayResult(
        query_id=events[0].query_id,
        events=len(events),
        compared=run.compared,
        verified=run.verified,
        closed=isinstance(events[-1].event, QueryClosed),
        divergence=divergence,
        skipped=run.skipped,
    )


def _with_missing_setting(
    result: ReplayResult,
    events: Trace,
    forms: Sequence[Form] | None,
    subscribers: Subscribers,
) -> ReplayResult:
    """Classes a difference as `settings` if and only if it follows from a setting that the trace lacks."""
    divergence = result.divergence
    if (
        divergence is None
        or not forms
        or divergence.difference not in ("code", "order")
    ):
        return result
    settings = forms[0].get("settings")
    if not isinstance(settings, Mapping):
        return result

    def replays(changed: Trace) -> bool:
        found = _replay_once(changed, forms, subscribers).divergence
        return found is None or found.difference == "settings"

    explanation = setting_that_explains(events, settings, replays)
    if explanation is None:
        return result
    name, value = explanation
    detail = f"{divergence.detail}; the trace knows no setting `{name}`, and with {name}={value!r} it replays"
    return replace(
        result, divergence=replace(divergence, difference="settings", detail=detail)
    )


def replay_lines(
    lines: Sequence[bytes],
    subscribers: Subscribers = (),
    tools: StoredText | None = None,
) -> ReplayResult:
    """Replays a trace in lines of recorded events as JSON; a line that cannot be read counts as a difference."""
    catalog = catalog_of(subscribers)
    events: list[Recorded[Event]] = []
    for line in lines:
        try:
            events.append(from_json(line, catalog))
        except DecodeError as error:
            query_id = events[0].query_id if events else "unknown"
            result = unreadable(query_id, len(lines), len(events) + 1, error)
            return with_missing(result, _versions(events), subscribers)
    forms: list[Form] = [msgspec.json.decode(line)["event"] for line in lines]
    return replay(events, forms, subscribers, tools)


def unreadable(
    query_id: str, events: int, seq: int, error: DecodeError
) -> ReplayResult:
    """Returns the result for a trace that this program cannot read."""
    divergence = Divergence(
        seq=seq,
        kind="unknown",
        difference="schema",
        field="",
        recorded="",
        now="",
        chain=(f"{seq} unknown",),
        detail=str(error),
    )
    return ReplayResult(
        query_id=query_id,
        events=events,
        compared=0,
        closed=False,
        divergence=divergence,
    )


def with_missing(
    result: ReplayResult, versions: Sequence[tuple[str, str]], subscribers: Subscribers
) -> ReplayResult:
    """Adds to the result the subscribers that took part in its trace but are not loaded.

    Args:
        versions: The versions in its first event.
    """
    missing = missing_subscribers(versions, subscribers)
    # A missing subscriber that decided nothing makes no difference.
    if result.divergence is None or not missing or result.divergence.field:
        return result
    detail = f"{missing} ({result.divergence.detail})"
    return replace(
        result,
        divergence=replace(result.divergence, difference="settings", detail=detail),
    )


def _versions(events: Trace) -> Sequence[tuple[str, str]]:
    if events and isinstance(events[0].event, QueryReceived):
        return events[0].event.versions
    return ()
