"""Renders events and answers as lines for people: the gist of each event, the answer with its numbered sources."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec.structs import asdict

from antiphon import service
from antiphon.cli.terminal import clean, counted, err, one_line, out, short_id
from antiphon.vocabulary import events as e
from antiphon.vocabulary.events import Event, Recorded, ResponseAssembled
from antiphon.vocabulary.unknown import UnknownEvent
from antiphon.vocabulary.values import Citation, Exchange, Imported, ToolCall, Usage

_STYLES = {"high": "green", "medium": "yellow", "low": "red"}


def show_answer(outcome: service.Outcome) -> None:
    """Prints the answer and its sources on standard output, and confidence, doubts and ids on standard error."""
    response = outcome.response
    out.print(
        clean(with_numbers(response.answer, response.citations, response.sources)),
        soft_wrap=True,
    )
    for line in source_lines(response):
        out.print(line, soft_wrap=True)
    err.print(_summary(outcome), style=_STYLES[response.confidence])
    for indicator in response.indicators:
        err.print(
            f"  ! {one_line(indicator.detail, 200)} (event {indicator.event_seq})",
            style="yellow",
        )
    err.print(
        f"conversation {short_id(outcome.session_id)} (go on: antiphon ask -c); "
        f"all of it: antiphon traces show {short_id(outcome.query_id)}",
        soft_wrap=True,
        style="dim",
    )


def with_numbers(
    answer: str, citations: Sequence[Citation], sources: Sequence[str]
) -> str:
    """Returns the answer with the number of its source after each cited span."""
    marks = {
        (citation.end, sources.index(citation.source) + 1)
        for citation in citations
        if citation.source in sources
    }
    # From the end, so that an inserted number does not shift places that are still to come.
    for end, number in sorted(marks, reverse=True):
        last_line = answer[:end].rpartition("\n")[2].lstrip()
        # On the line of a code fence the number would become part of it, and the fence would no longer close the code.
        gap = "\n" if last_line.startswith(("```", "~~~")) else " "
        answer = f"{answer[:end]}{gap}[{number}]{answer[end:]}"
    return answer


def said_of_import(imported: Imported) -> str:
    """Names the program that ran a query, and the parts that its recording does not hold."""
    who = f" of {imported.agent}" if imported.agent else ""
    line = f"imported from {imported.form}{who}"
    if imported.missing:
        line += f"; not recorded: {', '.join(imported.missing)}"
    return line


def source_lines(response: ResponseAssembled) -> list[str]:
    """Lists the numbered sources with their places and links, after an empty line; returns nothing without sources."""
    places: dict[str, dict[str, None]] = {}
    for citation in response.citations:
        if citation.place is not None:
            places.setdefault(citation.source, {})[citation.place] = None
    lines: list[str] = []
    for number, (source, link) in enumerate(
        zip(response.sources, response.source_links, strict=True), start=1
    ):
        line = f"[{number}] {one_line(source, 200)}"
        if source in places:
            line += f", {one_line(', '.join(places[source]), 200)}"
        if link:
            line += f"  {one_line(link, 300)}"
        lines.append(line)
    if not lines:
        return []
    return ["", *lines]


def conversation_lines(exchanges: Sequence[Exchange]) -> list[str]:
    """Lists the exchanges before a question, two lines each."""
    lines: list[str] = []
    for exchange in exchanges:
        lines.append(f"before: “{one_line(exchange.question, 200)}”")
        lines.append(f"        {one_line(exchange.answer, 300)}")
    return lines


def shown_lines(briefing: service.BriefingView, width: int) -> list[str]:
    """Lists the facts of a briefing, each on one line with the sentences that it shows."""
    lines: list[str] = []
    for shown in briefing.shown:
        text = " ".join(sentence.strip() for _, sentence in shown.sentences)
        lines.append(one_line(f"{shown.fact} [{shown.source}] {text}", width))
    return lines


_FOUND = {"high": "found", "medium": "look yourself", "low": "the closest there is"}
"""The words for the built-in reasoner's confidence: it only quotes, so the doubt is if the quotes hold the answer."""


def _summary(outcome: service.Outcome) -> str:
    response = outcome.response
    label = f"{response.confidence} confidence"
    doubts = {doubt.kind for doubt in response.indicators}
    # Low confidence after a failure or a lack of time has another reason than the findings.
    if response.reasoner == "offline" and (
        response.confidence != "low" or "closest_found" in doubts
    ):
        label = _FOUND[response.confidence]
    calls = counted(response.calls, "call")
    if response.summaries:
        calls += f" and {response.summaries} to sum up"
    return (
        f"\n{label} · answered by {one_line(response.reasoner, 60)} · "
        f"{counted(response.rounds, 'round')}, {calls} · {outcome.duration_ms / 1000:.2f} s · {outcome.status}"
    )


Line = Callable[[Any], str]

LINES: Mapping[type[e.Event], Line] = {
    e.QueryReceived: lambda it: (
        f"“{it.query}” (at most {counted(it.settings.max_rounds, 'round')}, {it.settings.deadline_s:g} s)"
        if it.imported is None
        else f"“{it.query}” ({said_of_import(it.imported)})"
    ),
    e.RoundOpened: lambda it: _round(it),
    e.SummaryWanted: lambda it: (
        f"of {counted(len(it.of), 'fact')}, {counted(it.tokens, 'token')}, for {it.call_id}"
    ),
    e.SummaryRequested: lambda it: (
        f"{it.call_id} by {it.model}, within {it.timeout_s:.1f} s"
    ),
    e.SummarySkipped: lambda it: f"{it.limit}: {it.detail}",
    e.SummaryFailed: lambda it: f"{it.call_id}: {it.failure}: {it.detail}",
    e.SummaryCompleted: lambda it: (
        f"{it.stop_reason}, {_tokens(it.usage)}: “{it.text.text}”"
    ),
    e.BriefingPrepared: lambda it: (
        f"{counted(it.tokens, 'token')}, {counted(len(it.facts), 'fact')}, {len(it.dropped)} dropped"
    ),
    e.ReasoningRequested: lambda it: (
        f"{it.call_id} of the {it.reasoner} reasoner, within {it.timeout_s:.1f} s "
        f"({it.elapsed_s:.1f} s used, {it.kept_s:.1f} s kept)"
    ),
    e.ReasoningStarted: lambda it: f"{it.call_id}: {it.reasoner}, attempt {it.attempt}",
    e.ToolCallStreamed: lambda it: _call(it.call),
    e.ReasoningRetried: lambda it: (
        f"attempt {it.attempt} failed ({it.why}: {it.detail}), again in {it.wait_s:.1f} s"
    ),
    e.ReasoningFailed: lambda it: f"{it.call_id}: {it.failure}: {it.detail}",
    e.ReasoningCompleted: lambda it: _reply(it),
    e.ToolRequested: lambda it: _call(it.call),
    e.ToolStarted: lambda it: it.name,
    e.ToolSubstituted: lambda it: f"{it.failed} → {it.substitute}: {it.why}",
    e.ToolSucceeded: lambda it: f"{it.name}: {_passages(it)}, {it.duration_ms:.0f} ms",
    e.ToolFailed: lambda it: f"{it.name}: {it.failure}: {it.detail}",
    e.ToolAnsweredLate: lambda it: (
        f"{it.name}: {counted(it.passages, 'passage')} after {it.duration_ms:.0f} ms, not used"
    ),
    e.ToolCallsConfirmed: lambda it: (
        f"round {it.round}: {counted(len(it.tool_call_ids), 'call')}"
    ),
    e.ToolsSettled: lambda it: (
        f"round {it.round}: {len(it.succeeded)} succeeded, {len(it.failed)} failed"
    ),
    e.ContextSynthesized: lambda it: (
        f"{counted(len(it.facts), 'new fact')}, {len(it.repeated)} found again{_still_open(it)}"
    ),
    e.BreakerTripped: lambda it: f"{it.limit}: {it.detail}",
    e.DeadlineNeared: lambda it: f"{it.left_s:.1f} s left",
    e.DeadlinePassed: lambda it: f"{it.left_s:.1f} s left",
    e.CallsAbandoned: lambda it: f"{', '.join(it.call_ids)}: {it.why}",
    e.RecoveryStarted: lambda it: f"{it.level}: {it.why} (event {it.event_seq})",
    e.QueryCancelled: lambda it: it.why,
    e.QueryResumed: lambda it: f"{it.why}, after {it.away_s:.1f} s",
    e.HandlerFailed: lambda it: f"{it.handler}: {it.error} (event {it.event_seq})",
    e.SessionStalled: lambda it: f"waiting for {'; '.join(it.waiting_for)}",
    e.RecordingFailed: lambda it: it.detail,
    e.ReviewRequested: lambda it: f"of the draft of {it.call_id}",
    e.DraftReviewed: lambda it: _judgement(it),
    e.AnswerRequested: lambda it: _wanted_answer(it),
    e.ResponseAssembled: lambda it: (
        f"{it.confidence} confidence, {counted(len(it.sources), 'source')}, {counted(it.calls, 'call')}"
    ),
    e.QueryClosed: lambda it: it.status,
}

NOTABLE = frozenset(
    {
        e.ToolRequested,
        e.ToolSucceeded,
        e.ToolFailed,
        e.ToolSubstituted,
        e.BreakerTripped,
        e.RecoveryStarted,
    }
    | {
        e.RoundOpened,
        e.ReasoningRetried,
        e.ReasoningFailed,
        e.DeadlineNeared,
        e.DeadlinePassed,
        e.HandlerFailed,
    }
    | {e.SummaryRequested, e.SummarySkipped, e.SummaryFailed}
    | {e.QueryResumed, e.SessionStalled, e.RecordingFailed, e.QueryCancelled}
)
"""The events that interest a user who waits for an answer."""


def describe(event: Event, width: int = 160) -> str:
    """Returns the gist of `event`, on one line that is safe to print."""
    line = LINES.get(type(event), _any)
    return one_line(line(event), width)


def describe_recorded(
    recorded: Recorded[Event], began_at: float, width: int = 160
) -> str:
    """Returns one line of a trace: seq, time since the beginning, kind, gist, and the event that led to it."""
    since_ms = (recorded.at - began_at) * 1000
    # The kind of an unknown event may be any text, from a file.
    kind = one_line(recorded.event.kind_name(), 80)
    return f"{recorded.seq:>4} {since_ms:>9.1f} ms  {kind:<22} {describe(recorded.event, width)}  ← {recorded.cause}"


def _any(event: Event) -> str:
    """Lists the fields of a subscriber's event, about which nothing but its kind is known here."""
    if isinstance(event, UnknownEvent):
        said = ", ".join(f"{name} {value}" for name, value in event.fields().items())
        return f"(unknown kind: its subscriber is not loaded) {said}"
    return ", ".join(f"{name} {value}" for name, value in asdict(event).items())


def _round(opened: e.RoundOpened) -> str:
    if opened.final:
        return f"final call {opened.call_id}"
    return f"round {opened.round}, call {opened.call_id}"


def _judgement(review: e.DraftReviewed) -> str:
    if review.accepted:
        return f"{review.reviewer} accepts the draft of {review.call_id}"
    return (
        f"{review.reviewer} asks for another round after {review.call_id}: {review.why}"
    )


def _wanted_answer(wanted: e.AnswerRequested) -> str:
    return f"{wanted.mode}: {wanted.why}" if wanted.why else wanted.mode


def _call(call: ToolCall) -> str:
    return f"{call.name} {call.arguments}"


def _reply(reply: e.ReasoningCompleted) -> str:
    calls = counted(len(reply.tool_calls), "tool call")
    content = calls if reply.tool_calls else f"“{reply.text.text}”"
    return f"{reply.stop_reason}, {_tokens(reply.usage)}: {content}"


def _tokens(usage: Usage) -> str:
    return f"{counted(usage.all_input_tokens, 'token')} in, {usage.output_tokens} out"


def _passages(result: e.ToolSucceeded) -> str:
    if not result.passages:
        return "nothing found"
    # Each source once, in the order in which they were found.
    sources = dict.fromkeys(passage.source for passage in result.passages)
    return f"{counted(len(result.passages), 'passage')} ({', '.join(sources)})"


def _still_open(context: e.ContextSynthesized) -> str:
    if not context.open_parts:
        return ""
    return f"; open: {', '.join(context.open_parts)}"
