"""Checks of the answer: it comes in time, is the assembled one, is based on the trace, and states its doubts."""

from __future__ import annotations

from collections.abc import Iterator

from antiphon.faults.checks.losses import OF_CONTENT, expected_doubts
from antiphon.faults.results import Run
from antiphon.vocabulary import events as e

_SLACK_S = 0.001
"""The allowed rounding error of sums of seconds."""

_WATCHES = (
    "clock.",
    "spawn.DeadlineTimer",
    "spawn.ToolRun._time_out",
    "publish.deadline_",
    "deliver.deadline_",
    "deliver.query_received.DeadlineTimer",
)
"""The points at which a fault can remove a watch over the time."""


def nothing_watches_the_time(run: Run) -> bool:
    """Returns True if several faults fired and one removed a watch over the time: then the answer may be late.

    A single fault is not enough: if one watch fails, another one ends the work that hangs.
    """
    fired: set[tuple[str, str]] = set()
    watch_taken = False
    for each in run.injected.fired:
        fired.add((each.point, each.kind))
        if each.point.startswith(_WATCHES):
            watch_taken = True
    return watch_taken and len(fired) > 1


def one_answer_is_given(run: Run) -> Iterator[str]:
    """There is one answer, and the query has one end, which is its last event."""
    if not run.response.answer.strip():
        yield "the answer is empty"
    closed = [
        recorded.seq
        for recorded in run.trace
        if isinstance(recorded.event, e.QueryClosed)
    ]
    if closed != [len(run.trace)]:
        yield f"the trace of {len(run.trace)} events closes at {closed}"


def the_assembled_answer_is_given(run: Run) -> Iterator[str]:
    """The caller gets the answer in the trace."""
    answers = [event.answer for event in run.events(e.ResponseAssembled)]
    different = set(answers)
    if len(different) > 1:
        yield f"{len(different)} different answers were assembled"
    # The first one counts, because it ends the session.
    if answers and run.response.answer != answers[0]:
        yield "the caller was given another answer than the one assembled"


def in_time(run: Run) -> Iterator[str]:
    """The answer comes within the deadline, as the caller measures it."""
    deadline_s = run.scenario.settings.deadline_s
    # No timer fires while the loop is blocked.
    late_s = _SLACK_S + run.injected.blocked_s
    if run.took_s > deadline_s + late_s and not nothing_watches_the_time(run):
        yield f"it took {run.took_s:.2f} s of {deadline_s:g} s"


def citations_lead_back(run: Run) -> Iterator[str]:
    """Every citation quotes a passage in the trace exactly, and belongs to a part of the answer."""
    response = run.response
    passages: dict[str, str] = {}
    for event in run.events(e.ContextSynthesized):
        for fact in event.facts:
            passages[fact.id] = fact.passage.text.text
    for citation in response.citations:
        if citation.fact not in passages:
            yield f"{citation.fact} is no fact of the trace"
        elif citation.cited_text not in passages[citation.fact]:
            yield f"words that are not in {citation.fact}: {citation.cited_text[:60]!r}"
        if not 0 <= citation.start < citation.end <= len(response.answer):
            yield f"a citation of no part of the answer: {citation.start} to {citation.end}"


def each_loss_has_its_sign(run: Run) -> Iterator[str]:
    """The answer has a sign for each loss in the trace."""
    # An answer of last resort says so in its text, which `failure_is_never_sure` checks.
    if not run.has(e.ResponseAssembled):
        return
    signs = run.signs
    unheard = _unheard_by_assembler(run)
    for expected in expected_doubts(run.trace):
        if expected.event.kind_name() in unheard:
            continue
        if expected.kinds.isdisjoint(signs):
            wanted = " or ".join(sorted(expected.kinds))
            yield f"{type(expected.event).__name__} without its sign ({wanted})"


def no_sign_without_a_loss(run: Run) -> Iterator[str]:
    """No hedging: there is no sign without a loss."""
    if not run.has(e.ResponseAssembled) or _unheard_by_assembler(run):
        return
    # The store may refuse events after the request for the answer; the sign of that is added at the very end.
    explained = set(OF_CONTENT) | {"trace_incomplete"}
    for expected in expected_doubts(run.trace):
        explained |= expected.kinds
    # If the reply was lost, a second request may build the answer from the facts.
    if len(run.events(e.AnswerRequested)) > 1:
        explained.add("partial_evidence")
    for sign in sorted(run.signs - explained):
        yield f"a sign of {sign} without a loss"


def no_low_confidence_without_reason(run: Run) -> Iterator[str]:
    """No hedging: without a loss or a fault the answer does not claim low confidence."""
    if not run.has(e.ResponseAssembled) or run.fired or expected_doubts(run.trace):
        return
    if run.response.confidence == "low":
        yield "low confidence without a reason"


def _unheard_by_assembler(run: Run) -> set[str]:
    """Returns the kinds of events that a fault kept from the assembler, so that the answer cannot mention them."""
    return {
        kind
        for kind, component in run.injected.undelivered
        if component == "ResponseAssembler"
    }


def signs_name_their_events(run: Run) -> Iterator[str]:
    """Each doubt names the event of the trace that caused it."""
    last = run.trace[-1].seq if run.trace else 0
    for doubt in run.response.indicators:
        if not 0 < doubt.event_seq <= last:
            yield f"{doubt.kind} rests on event {doubt.event_seq}, which is not there"


def failure_is_never_sure(run: Run) -> Iterator[str]:
    """A statement of failure never claims confidence; an answer that was whole before its query failed may."""
    assert run.outcome is not None
    status = run.outcome.status
    confidence = run.response.confidence
    if status not in ("cancelled", "failed") or confidence == "low":
        return
    if status == "cancelled" or not run.has(e.ResponseAssembled):
        yield f"a query that {status} answers with confidence {confidence}"
