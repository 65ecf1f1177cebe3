"""Checks the trace: its order, outcomes, requests and copy in the store, and that the query leaves nothing running.

The rules of the Messages API are written independently of the engine, which makes the requests, so that each checks the
other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

import msgspec

from antiphon.engine import refusals_of, request_json
from antiphon.faults.ports.replies import MODEL_NAME
from antiphon.faults.results import Run
from antiphon.vocabulary import events as e
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.values import Request

_LOSING_POINTS = ("publish.", "deliver.", "spawn.")
"""Points at which a fault can lose an event or the work that it starts."""
_LOSING_KINDS = ("raise", "cancel", "exit")
"""Kinds of faults that end a handler or its work before it has published its outcome."""
_REPORTS = ("deliver.handler_failed", "deliver.session_stalled")
"""Points of the delivery of events that themselves report a bug."""


def moves_by_itself(run: Run) -> Iterator[str]:
    """A query stalls only if a fault took an event, or the work that owed one, from it."""
    stalls = run.events(e.SessionStalled)
    if not stalls:
        return
    for fired in run.injected.fired:
        if fired.kind in _LOSING_KINDS or fired.point.startswith(_LOSING_POINTS):
            return
    yield f"it stood still, waiting for {', '.join(stalls[0].waiting_for)}"


def one_outcome_each(run: Run) -> Iterator[str]:
    """No tool call has two outcomes, unless a fault duplicated one."""
    doubled = {
        event.tool_call_id
        for event in run.injected.lost
        if isinstance(event, e.ToolSucceeded | e.ToolFailed)
    }
    outcomes = Counter(run.subjects(e.ToolSucceeded, e.ToolFailed))
    for call_id, count in outcomes.items():
        if count > 1 and call_id not in doubled:
            yield f"tool call {call_id} has {count} outcomes"


def an_outcome_for_each_start(run: Run) -> Iterator[str]:
    """Every started tool call has an outcome, unless its query ended early or a fault withheld events."""
    ended_early = run.has(e.QueryCancelled, e.SessionStalled, e.HandlerFailed)
    if ended_early or run.injected.lost or run.injected.undelivered:
        return
    started = set(run.subjects(e.ToolStarted))
    ended = set(run.subjects(e.ToolSucceeded, e.ToolFailed))
    for call_id in sorted(started - ended):
        yield f"tool call {call_id} has no outcome"


def causes_are_sound(run: Run) -> Iterator[str]:
    """`seq` has no gaps, each cause comes before its effect, and time never runs back."""
    earlier_at = 0.0
    for number, recorded in enumerate(run.trace, start=1):
        if recorded.seq != number:
            yield f"event {number} has seq {recorded.seq}"
            return
        if not 0 <= recorded.cause < recorded.seq:
            yield f"event {recorded.seq} is caused by {recorded.cause}"
        if recorded.at < earlier_at:
            yield f"event {recorded.seq} is earlier than the one before"
        earlier_at = recorded.at


def the_store_holds_the_trace(run: Run) -> Iterator[str]:
    """The store holds the beginning of the trace; if the rest is missing, the answer says so."""
    # The store may lack only the end of the trace.
    stored = list(run.stored)
    if stored != run.trace[: len(stored)]:
        yield "the store has other events than were delivered"
    if len(stored) < len(run.trace) and "trace_incomplete" not in run.signs:
        yield "the trace is not whole, and the answer does not say so"


def errors_are_recorded(run: Run) -> Iterator[str]:
    """A bug in a component is an event, unless the handled event itself reports a bug or ends the query."""
    if not run.injected.raised or run.has(e.HandlerFailed, e.SessionStalled):
        return
    for point in run.injected.raised:
        # Reports of reports would never end, and after the end of the query nothing is recorded.
        if point.startswith(_REPORTS) or ".query_closed" in point:
            return
    yield f"{run.injected.raised[0]} raised, and the trace does not say so"


def stored_before_acted_on(run: Run) -> Iterator[str]:
    """An event that leads to a call of a model or a tool is stored before the call, unless the store refused it."""
    if run.has(e.RecordingFailed) or len(run.stored) != len(run.trace):
        return
    if run.injected.acted_unstored > 0:
        yield f"event {run.injected.acted_unstored} was acted on before it was stored"


def faults_are_implemented(run: Run) -> Iterator[str]:
    """The harness implements each fault that fired."""
    for fault in run.injected.unimplemented:
        yield f"nothing implements {fault}"


def nothing_is_left(run: Run) -> Iterator[str]:
    """No task, thread or session outlives its query."""
    yield from run.left


def requests_are_legal(run: Run) -> Iterator[str]:
    """The server would refuse no request."""
    for event in run.events(e.ReasoningStarted):
        for wrong in refusals(event.request):
            yield f"{event.call_id}: {wrong}"
        # The scripted model refuses these too, but a query that recovers from the refusal would hide it.
        if event.reasoner == MODEL_NAME:
            for wrong in documented_refusals(event.request):
                yield f"{event.call_id}: {wrong}"


def documented_refusals(request: Request) -> Iterator[str]:
    """Yields the documented API's refusals of a request to the scripted model, no matter how the request names it."""
    for refusal in refusals_of(request_json(request) | {"model": MODEL_NAME}):
        yield f"{refusal.message} ({refusal.page})"


def refusals(request: Request) -> Iterator[str]:
    """Yields the server's reasons to refuse a request, in words."""
    if request.max_tokens < 1 or not request.model:
        yield "no model, or no room for a reply"
    yield from _wrong_roles(request)
    blocks = _blocks(request)
    yield from _wrong_texts(blocks)
    yield from _wrong_sources(blocks)
    yield from _wrong_results(blocks)
    yield from _wrong_tools(request)


def _wrong_roles(request: Request) -> Iterator[str]:
    if not request.messages or request.messages[0].role != "user":
        yield "the first message is not the user's"
    for message, following in pairwise(request.messages):
        if message.role == following.role:
            yield "two messages on end have the same role"
            return


def _blocks(request: Request) -> list[Json]:
    blocks: list[Json] = []
    for message in request.messages:
        for block in message.content:
            blocks.append(msgspec.json.decode(block.text))
    return blocks


def _of_type(blocks: list[Json], kind: str) -> Iterator[Json]:
    for block in blocks:
        if block["type"] == kind:
            yield block


def _wrong_texts(blocks: list[Json]) -> Iterator[str]:
    if not blocks:
        yield "a message without content"
    for block in _of_type(blocks, "text"):
        if not block["text"].strip():
            yield "an empty text block"
            return


def _wrong_sources(blocks: list[Json]) -> Iterator[str]:
    cited: set[bool] = set()
    for source in _of_type(blocks, "search_result"):
        citations: Json = source.get("citations", {})
        cited.add(bool(citations.get("enabled")))
        if not all((source["content"], source["source"], source["title"])):
            yield "a source without content, name or title"
    # The API accepts citations on all sources or on none.
    if len(cited) > 1:
        yield "citations are on for some sources only"


def _wrong_results(blocks: list[Json]) -> Iterator[str]:
    """Each tool call is answered exactly once."""
    calls = {block["id"] for block in _of_type(blocks, "tool_use")}
    # Counts them, because the API also refuses two answers to one call.
    results = Counter(block["tool_use_id"] for block in _of_type(blocks, "tool_result"))
    if results != Counter(calls):
        yield "tool calls and tool results do not match"


def _wrong_tools(request: Request) -> Iterator[str]:
    tools: list[Json] = msgspec.json.decode(request.tools.text) if request.tools else []
    names = {tool["name"] for tool in tools}
    if len(names) < len(tools):
        yield "two tools have the same name"
    if request.tool_choice and not tools:
        yield "a tool choice without tools"
