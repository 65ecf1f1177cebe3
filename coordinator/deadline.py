"""The shares of the deadline, and the timer that emits an event as each is used up.

received ────────── tool rounds ──────────┤ reserve: final call ├ margin: assembling ┤ deadline
                                    DeadlineNeared         DeadlinePassed

Every call of the model ends before its share does, early enough for the fallback reasoner to search and answer.
The fallback works in this process and takes only a moment, so it keeps no reserve for itself.

The shares are pure. `DeadlineTimer` is the only part of the coordinator that uses the clock.
"""

from __future__ import annotations

from collections.abc import Sequence

from antiphon.coordinator.query_state import QueryState
from antiphon.vocabulary.events import (
    DeadlineNeared,
    DeadlinePassed,
    Event,
    QueryReceived,
    QueryResumed,
)
from antiphon.vocabulary.performing import Command
from antiphon.vocabulary.ports import Clock, Publish, Spawn
from antiphon.vocabulary.values import QuerySettings

# Building an answer takes milliseconds; the margin is for a loaded machine, and stays small if the deadline is short.
MARGIN_SHARE = 0.05
MARGIN_MOST_S = 1.0
RESERVE_SHARE = 0.4
# A search and an answer by extraction take about 0.3 s; the rest is for a loaded machine.
FALLBACK_SHARE = 0.1
FALLBACK_MOST_S = 3.0
LEAST_CALL_S = 0.05
# A summary only shortens the briefing: most of the time belongs to the rounds that find something new.
SUMMARY_MOST_S = 10.0
SUMMARY_SHARE = 0.25
SUMMARY_LEAST_S = 0.5
"""Least time for a summary; with less it would only delay the answer."""


def margin_s(settings: QuerySettings) -> float:
    """Returns the seconds kept back for building the answer and sending it."""
    return min(MARGIN_MOST_S, MARGIN_SHARE * settings.deadline_s)


def reserve_s(settings: QuerySettings) -> float:
    """Returns the seconds kept back for the final call: the setting, but at most two fifths of the deadline."""
    return min(settings.final_reserve_s, RESERVE_SHARE * settings.deadline_s)


def fallback_s(settings: QuerySettings) -> float:
    """Returns the seconds that a model's call leaves the fallback reasoner for a search and its answer."""
    return min(FALLBACK_MOST_S, FALLBACK_SHARE * settings.deadline_s)


def neared_after_s(settings: QuerySettings) -> float:
    """Returns the seconds from receipt to `DeadlineNeared`."""
    return settings.deadline_s - margin_s(settings) - reserve_s(settings)


def passed_after_s(settings: QuerySettings) -> float:
    """Returns the seconds from receipt to `DeadlinePassed`."""
    return settings.deadline_s - margin_s(settings)


def kept_s(state: QueryState) -> float:
    """Returns the seconds of the deadline that the open round's reasoning call may not use."""
    kept = margin_s(state.settings)
    if state.fallback_in_charge:
        return kept
    # Only the final call may use the reserve.
    if not state.final:
        kept += reserve_s(state.settings)
    if state.fallback_searches:
        kept += fallback_s(state.settings)
    return kept


def call_timeout_s(state: QueryState, elapsed_s: float) -> float:
    """Returns how long the open round's reasoning call may take when it begins after `elapsed_s`."""
    # Never zero: a call begun at the last moment must time out, because its failure moves the query on.
    return max(LEAST_CALL_S, state.settings.deadline_s - kept_s(state) - elapsed_s)


def tool_timeout_s(state: QueryState, elapsed_s: float) -> float:
    """Returns how long a tool begun after `elapsed_s` may take."""
    if state.fallback_in_charge:
        # The other half of the fallback's share is for its answer.
        end_s = passed_after_s(state.settings) - fallback_s(state.settings) / 2
    else:
        end_s = neared_after_s(state.settings)
    return max(LEAST_CALL_S, min(state.settings.tool_timeout_s, end_s - elapsed_s))


def summary_timeout_s(settings: QuerySettings, elapsed_s: float) -> float:
    """Returns how long a summarising call begun after `elapsed_s` may take: a share of the tool rounds' time."""
    return min(SUMMARY_MOST_S, SUMMARY_SHARE * (neared_after_s(settings) - elapsed_s))


def alarms(settings: QuerySettings) -> tuple[DeadlineNeared | DeadlinePassed, ...]:
    """Returns the events that mark the end of a share of the deadline, in order; each says when it is due."""
    return (
        DeadlineNeared(
            left_s=reserve_s(settings) + margin_s(settings),
            after_s=neared_after_s(settings),
        ),
        DeadlinePassed(left_s=margin_s(settings), after_s=passed_after_s(settings)),
    )


class DeadlineTimer:
    """Emits `DeadlineNeared` and `DeadlinePassed` when the shares before them are used up."""

    def __init__(self, publish: Publish, spawn: Spawn, clock: Clock) -> None:
        self._publish = publish
        self._spawn = spawn
        self._clock = clock

    def perform(self, command: Command, /) -> None:
        """Starts the timers for the rest of the deadline when a query is received or resumed."""
        settings = QuerySettings()
        received_at = 0.0
        emitted: set[type[Event]] = set()
        for recorded in command.past:
            match recorded.event:
                case QueryReceived() as received:
                    settings = received.settings
                    received_at = recorded.at
                case QueryResumed(away_s=away_s):
                    received_at += away_s
                case DeadlineNeared() | DeadlinePassed() as alarm:
                    emitted.add(type(alarm))
        due = [alarm for alarm in alarms(settings) if type(alarm) not in emitted]
        self._spawn(self._watch(due, received_at), background=True)

    async def _watch(
        self, due: Sequence[DeadlineNeared | DeadlinePassed], received_at: float
    ) -> None:
        for alarm in due:
            # Counted from receipt, so that a query resumed late catches up at once.
            left_s = received_at + alarm.after_s - self._clock.now()
            await self._clock.sleep(max(0.0, left_s))
            self._publish(alarm)
