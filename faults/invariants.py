"""The promises, as rules over what one run left: its trace, its answer and its process."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from antiphon.faults.legality import faults_of
from antiphon.faults.losses import OF_CONTENT, owed
from antiphon.faults.running import Run
from antiphon.faults.spending import within_budget
from antiphon.faults.standing import moves_by_itself
from antiphon.vocabulary import events as e
from antiphon.vocabulary.events import Event

OWN = "own-search-"
"""How the ids of searches begin that no model asked for."""

Rule = Callable[[Run], Iterator[str]]

_SLACK_S = 0.001


def broken_promises(run: Run) -> list[str]:
    """Each promise that the run breaks, in a sentence."""
    if run.refused or (run.outcome is None and nobody_watched(run)):
        return []
    if run.outcome is None:
        return [f"no answer: {run.broke or 'nothing came'}"]
    return [f"{name}: {wrong}" for name, rule in RULES.items() for wrong in rule(run)]


WATCHING = (
    "clock.", "spawn.DeadlineTimer", "spawn.ToolRun._time_out", "publish.deadline_", "deliver.deadline_",
    "deliver.query_received.DeadlineTimer",
)  # fmt: skip


def nobody_watched(run: Run) -> bool:
    """Whether several faults fired and took a watch over the time away: then nothing need come in time.

    One fault never does: where a watch fails alone, another one ends what hangs.
    """
    fired = {(each.point, each.kind) for each in run.meeting.fired}
    return len(fired) > 1 and any(point.startswith(WATCHING) for point, _ in fired)


def _of(run: Run, *kinds: type) -> list[Event]:
    return [said.event for said in run.trace if isinstance(said.event, kinds)]


def one_answer(run: Run) -> Iterator[str]:
    """One answer, the one that the trace holds, and one end."""
    assert run.outcome is not None
    if not run.outcome.response.answer.strip():
        yield "the answer is empty"
    closed = [said.seq for said in run.trace if isinstance(said.event, e.QueryClosed)]
    if closed != [len(run.trace)]:
        yield f"the trace of {len(run.trace)} events closes at {closed}"
    answers = [event.answer for event in _of(run, e.ResponseAssembled) if isinstance(event, e.ResponseAssembled)]
    if len(set(answers)) > 1:
        yield f"{len(set(answers))} different answers were assembled"
    if answers and run.outcome.response.answer != answers[0]:
        yield "the caller was given another answer than the one assembled"


def in_time(run: Run) -> Iterator[str]:
    """Within the deadline, measured where the caller stands."""
    deadline_s = run.scenario.settings.deadline_s
    if run.took_s > deadline_s + _SLACK_S and not nobody_watched(run):
        yield f"it took {run.took_s:.2f} s of {deadline_s:g} s"


def within_limits(run: Run) -> Iterator[str]:
    """Rounds, replies and calls."""
    settings = run.scenario.settings
    replies = {event.call_id for event in _of(run, e.ReasoningCompleted) if isinstance(event, e.ReasoningCompleted)}
    if len(replies) > settings.max_rounds + 1:
        yield f"{len(replies)} replies, {settings.max_rounds + 1} are allowed"
    summed = {event.call_id for event in _of(run, e.SummaryRequested) if isinstance(event, e.SummaryRequested)}
    if len(summed) > settings.max_rounds:
        yield f"{len(summed)} summaries, {settings.max_rounds} are allowed"
    asked = [event for event in _of(run, e.ToolRequested) if isinstance(event, e.ToolRequested)]
    rounds = {event.round for event in asked if not event.call.id.startswith(OWN)}
    if len({event.call.id for event in asked if event.call.id.startswith(OWN)}) > 1:
        yield "more than one search of its own"
    if len(rounds) > settings.max_rounds:
        yield f"tools in {len(rounds)} rounds, {settings.max_rounds} are allowed"
    confirmed = [
        event.tool_call_ids for event in _of(run, e.ToolCallsConfirmed) if isinstance(event, e.ToolCallsConfirmed)
    ]
    if any(len(set(ids)) > settings.max_tool_calls for ids in confirmed):
        yield f"more than {settings.max_tool_calls} tool calls in a round"
    # An attempt that a fault told twice is one attempt.
    attempts = {
        (event.call_id, event.reasoner, event.attempt, event.part)
        for event in _of(run, e.ReasoningStarted)
        if isinstance(event, e.ReasoningStarted)
    }
    most = max(Counter(call_id for call_id, *_ in attempts).values(), default=0)
    if most > MOST_ATTEMPTS:
        yield f"{most} attempts at one call"
    starts = Counter(event.tool_call_id for event in _of(run, e.ToolStarted) if isinstance(event, e.ToolStarted))
    told_twice = sum(isinstance(event, e.ToolStarted) for event in run.meeting.lost)
    if max(starts.values(), default=0) > MOST_STARTS + told_twice:
        yield f"one tool call was started {max(starts.values())} times"


MOST_ATTEMPTS = 6
MOST_STARTS = 8
"""A retry policy may try this often; one without a limit tries until the deadline."""


def one_outcome_each(run: Run) -> Iterator[str]:
    """Every tool call that started has exactly one outcome, unless its caller left or a fault took it away."""
    spoiled = {event.tool_call_id for event in run.meeting.lost if isinstance(event, e.ToolSucceeded | e.ToolFailed)}
    outcomes: Counter[str] = Counter()
    for event in _of(run, e.ToolSucceeded, e.ToolFailed):
        if isinstance(event, e.ToolSucceeded | e.ToolFailed):
            outcomes[event.tool_call_id] += 1
    for id_, count in outcomes.items():
        if count > 1 and id_ not in spoiled:
            yield f"tool call {id_} has {count} outcomes"
    started = {event.tool_call_id for event in _of(run, e.ToolStarted) if isinstance(event, e.ToolStarted)}
    ended_early = (
        bool(_of(run, e.QueryCancelled, e.SessionStalled, e.HandlerFailed)) or run.meeting.lost or run.meeting.unheard
    )
    if not ended_early:
        yield from (f"tool call {id_} has no outcome" for id_ in sorted(started - set(outcomes) - spoiled))


def legal_requests(run: Run) -> Iterator[str]:
    for event in _of(run, e.ReasoningStarted):
        if isinstance(event, e.ReasoningStarted):
            yield from (f"{event.call_id}: {wrong}" for wrong in faults_of(event.request))


def citations_lead_back(run: Run) -> Iterator[str]:
    """Every citation is the very words of a passage that the trace holds."""
    assert run.outcome is not None
    response = run.outcome.response
    rounds = [event for event in _of(run, e.ContextSynthesized) if isinstance(event, e.ContextSynthesized)]
    passages = {fact.id: fact.passage for event in rounds for fact in event.facts}
    for citation in response.citations:
        passage = passages.get(citation.fact)
        if passage is None:
            yield f"{citation.fact} is no fact of the trace"
        elif citation.cited_text not in passage.text.text:
            yield f"words that are not in {citation.fact}: {citation.cited_text[:60]!r}"
        if not 0 <= citation.start < citation.end <= len(response.answer):
            yield f"a citation of no part of the answer: {citation.start} to {citation.end}"


def doubts_are_said(run: Run) -> Iterator[str]:
    """Each loss has its sign; without a loss there is no sign of one."""
    assert run.outcome is not None
    if not _of(run, e.ResponseAssembled):
        return  # a statement of last resort says so by itself; checked by `says_so`
    shown = {doubt.kind for doubt in run.outcome.response.indicators}
    asked = list(owed(run.trace))
    unheard = {kind for kind, component in run.meeting.unheard if component == "ResponseAssembler"}
    for kinds, event in asked:
        if not kinds & shown and str(event.__struct_config__.tag) not in unheard:
            yield f"{type(event).__name__} without its sign ({' or '.join(sorted(kinds))})"
    extra = shown - OF_CONTENT - frozenset(kind for kinds, _ in asked for kind in kinds)
    if len(_of(run, e.AnswerRequested)) > 1:
        extra -= {"partial_evidence"}
    if not unheard:
        yield from (f"a sign of {kind} without a loss" for kind in sorted(extra - {"trace_incomplete"}))
    if not asked and not run.fired and run.outcome.response.confidence == "low":
        yield "low confidence without a reason"


def signs_name_their_events(run: Run) -> Iterator[str]:
    assert run.outcome is not None
    last = max((said.seq for said in run.trace), default=0)
    for doubt in run.outcome.response.indicators:
        if not 0 < doubt.event_seq <= last:
            yield f"{doubt.kind} rests on event {doubt.event_seq}, which is not there"


def says_so(run: Run) -> Iterator[str]:
    """An answer that is none is never called sure; one that was whole before its query failed may be."""
    assert run.outcome is not None
    status = run.outcome.status
    unsure = status == "cancelled" or (status == "failed" and not _of(run, e.ResponseAssembled))
    if unsure and run.outcome.response.confidence != "low":
        yield f"a query that {status} answers with confidence {run.outcome.response.confidence}"


def causes_are_sound(run: Run) -> Iterator[str]:
    """`seq` without gaps, each cause before its effect, time never back."""
    for number, (said, before) in enumerate(zip(run.trace, (None, *run.trace), strict=False), start=1):
        if said.seq != number:
            yield f"event {number} has seq {said.seq}"
            return
        if not 0 <= said.cause < said.seq:
            yield f"event {said.seq} is caused by {said.cause}"
        if before is not None and said.at < before.at:
            yield f"event {said.seq} is earlier than the one before"


def kept_or_told(run: Run) -> Iterator[str]:
    """What is stored is the trace from its beginning; where it is not all of it, the answer says so."""
    assert run.outcome is not None
    shown = {doubt.kind for doubt in run.outcome.response.indicators}
    if list(run.stored) != run.trace[: len(run.stored)]:
        yield "the store has other events than were delivered"
    if len(run.stored) < len(run.trace) and "trace_incomplete" not in shown:
        yield "the trace is not whole, and the answer does not say so"


def errors_are_recorded(run: Run) -> Iterator[str]:
    """A bug in a component is an event, save where what was being handled tells of a bug already."""
    telling = ("deliver.handler_failed", "deliver.session_stalled")
    bugs = run.meeting.raised
    quiet = [point for point in bugs if point.startswith(telling) or ".query_closed" in point]
    if bugs and not quiet and not _of(run, e.HandlerFailed, e.SessionStalled):
        yield f"{bugs[0]} raised, and the trace does not say so"


def stored_before_acted_on(run: Run) -> Iterator[str]:
    """What leads to a call of the model or a tool is in the store before the call, unless the store refused."""
    if run.meeting.acted_unstored and not _of(run, e.RecordingFailed) and len(run.stored) == len(run.trace):
        yield f"event {run.meeting.acted_unstored} was acted on before it was stored"


def nothing_left(run: Run) -> Iterator[str]:
    yield from run.left


RULES: dict[str, Rule] = {
    "one answer": one_answer,
    "moves by itself": moves_by_itself,
    "in time": in_time,
    "within limits": within_limits,
    "spending within budget": within_budget,
    "one outcome a call": one_outcome_each,
    "legal requests": legal_requests,
    "citations lead back": citations_lead_back,
    "doubt is said": doubts_are_said,
    "signs name their events": signs_name_their_events,
    "failure is said": says_so,
    "causes are sound": causes_are_sound,
    "kept or told": kept_or_told,
    "errors are recorded": errors_are_recorded,
    "stored before acted on": stored_before_acted_on,
    "nothing is left": nothing_left,
}
