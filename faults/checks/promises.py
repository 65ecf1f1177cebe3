"""The promises: the table of named checks over the results of one run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from antiphon.faults.checks import answers, limits, traces
from antiphon.faults.results import Run


class Check(NamedTuple):
    """One check of a promise; its rule yields a sentence for each way in which a run breaks the promise."""

    promise: str
    rule: Callable[[Run], Iterator[str]]


CHECKS: tuple[Check, ...] = (
    Check("one answer", answers.one_answer_is_given),
    Check("one answer", answers.the_assembled_answer_is_given),
    Check("moves by itself", traces.moves_by_itself),
    Check("in time", answers.in_time),
    Check("within limits", limits.replies_within_limits),
    Check("within limits", limits.summaries_within_limits),
    Check("within limits", limits.tool_rounds_within_limits),
    Check("within limits", limits.one_own_search),
    Check("within limits", limits.tool_calls_within_limits),
    Check("within limits", limits.attempts_within_limits),
    Check("within limits", limits.tool_starts_within_limits),
    Check("spending within budget", limits.within_budget),
    Check("one outcome a call", traces.one_outcome_each),
    Check("one outcome a call", traces.an_outcome_for_each_start),
    Check("legal requests", traces.requests_are_legal),
    Check("citations lead back", answers.citations_lead_back),
    Check("doubt is said", answers.each_loss_has_its_sign),
    Check("doubt is said", answers.no_sign_without_a_loss),
    Check("doubt is said", answers.no_low_confidence_without_reason),
    Check("signs name their events", answers.signs_name_their_events),
    Check("failure is said", answers.failure_is_never_sure),
    Check("causes are sound", traces.causes_are_sound),
    Check("kept or told", traces.the_store_holds_the_trace),
    Check("errors are recorded", traces.errors_are_recorded),
    Check("stored before acted on", traces.stored_before_acted_on),
    Check("injected as planned", traces.faults_are_implemented),
    Check("nothing is left", traces.nothing_is_left),
)


def broken_promises(run: Run) -> list[str]:
    """Names each promise that the run breaks, in a sentence."""
    if run.refused:
        return []
    if run.outcome is None:
        # If faults removed the watches over the time, nothing ends work that hangs.
        if answers.nothing_watches_the_time(run):
            return []
        why = run.error or "nothing came"
        return [f"no answer: {why}"]
    broken: list[str] = []
    for check in CHECKS:
        for wrong in check.rule(run):
            broken.append(f"{check.promise}: {wrong}")
    return broken
