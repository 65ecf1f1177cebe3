"""The deadline's shares: how long a call may take, and when the query must turn to its end.

received ────────── tool rounds ──────────┤ reserve: final call ├ margin: assembling ┤ deadline
                                    DeadlineNeared         DeadlinePassed
"""

from __future__ import annotations

from antiphon.vocabulary.values import QuerySettings

MARGIN_SHARE = 0.05
MARGIN_MOST_S = 1.0
RESERVE_SHARE = 0.4
LEAST_CALL_S = 0.05
SUMMARY_MOST_S = 10.0
SUMMARY_SHARE = 0.25
SUMMARY_LEAST_S = 0.5
"""A summary that would have less time is not asked for: it would hold the answer up for nothing."""


def margin_s(settings: QuerySettings) -> float:
    """Seconds kept back for building the answer and sending it."""
    return min(MARGIN_MOST_S, MARGIN_SHARE * settings.deadline_s)


def reserve_s(settings: QuerySettings) -> float:
    """Seconds kept back for the final call: the setting, but never more than two fifths of the deadline."""
    return min(settings.final_reserve_s, RESERVE_SHARE * settings.deadline_s)


def neared_after_s(settings: QuerySettings) -> float:
    """Seconds from receipt to `DeadlineNeared`."""
    return settings.deadline_s - margin_s(settings) - reserve_s(settings)


def passed_after_s(settings: QuerySettings) -> float:
    """Seconds from receipt to `DeadlinePassed`."""
    return settings.deadline_s - margin_s(settings)


def call_timeout_s(settings: QuerySettings, elapsed_s: float, *, final: bool) -> float:
    """Seconds that a reasoning call begun after `elapsed_s` may take; only the final one may use the reserve."""
    end = passed_after_s(settings) if final else neared_after_s(settings)
    return max(LEAST_CALL_S, end - elapsed_s)


def kept_s(settings: QuerySettings, *, final: bool) -> float:
    """Seconds of the deadline that a reasoning call may not touch."""
    return margin_s(settings) + (0.0 if final else reserve_s(settings))


def tool_timeout_s(settings: QuerySettings, elapsed_s: float) -> float:
    """Seconds that a tool begun after `elapsed_s` may take."""
    return max(LEAST_CALL_S, min(settings.tool_timeout_s, neared_after_s(settings) - elapsed_s))


def summary_timeout_s(settings: QuerySettings, elapsed_s: float) -> float:
    """Seconds that a summarising call begun after `elapsed_s` may take: a share of what the tool rounds have left."""
    return min(SUMMARY_MOST_S, SUMMARY_SHARE * (neared_after_s(settings) - elapsed_s))
