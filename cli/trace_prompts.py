"""`antiphon traces prompt`: the request and the reply of each call of a query, as text."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
import typer

from antiphon.cli.session import DataDir, TraceId, read_trace, settings_for_people
from antiphon.cli.terminal import clean, counted, one_line, out
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.events import (
    Event,
    ReasoningCompleted,
    ReasoningFailed,
    ReasoningRetried,
    ReasoningStarted,
    Recorded,
    SummaryCompleted,
    SummaryFailed,
)
from antiphon.vocabulary.values import Request, StoredText

Failure = ReasoningFailed | SummaryFailed | ReasoningRetried


def show_prompt(
    query_id: TraceId,
    call: Annotated[
        str | None,
        typer.Option(
            "--call", help="Only this call, such as call-2; by default all calls."
        ),
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Shows what the model was shown in each call, and what it replied, as text."""
    events = asyncio.run(read_trace(settings_for_people(data_dir=data_dir), query_id))
    of_calls = [recorded for recorded in events if _is_of_call(recorded.event, call)]
    if not of_calls:
        wanted = call or "any call to a model"
        raise BadInputError(f"This trace does not hold {clean(wanted)!r}.")
    # The calls of one query share the system prompt: it is printed in full only once.
    seen: set[str] = set()
    for recorded in of_calls:
        _show(recorded, seen)


def _is_of_call(event: Event, call: str | None) -> bool:
    kinds = (ReasoningStarted, ReasoningCompleted, SummaryCompleted)
    if not isinstance(
        event, (*kinds, ReasoningFailed, SummaryFailed, ReasoningRetried)
    ):
        return False
    return call is None or event.subject() == call


def _show(recorded: Recorded[Event], seen: set[str]) -> None:
    event = recorded.event
    match event:
        case ReasoningStarted():
            attempt = f", attempt {event.attempt}" if event.attempt > 1 else ""
            _title(f"{event.call_id}{attempt}: shown to {event.reasoner}", recorded)
            _show_request(event.request, seen)
        case ReasoningCompleted() | SummaryCompleted():
            _title(f"{event.call_id}: replied ({event.stop_reason})", recorded)
            for block in event.content:
                _show_block(block)
        case ReasoningFailed() | SummaryFailed():
            _title(f"{event.call_id}: no reply ({event.failure})", recorded)
            _lines(event.detail)
        case ReasoningRetried():
            _title(f"{event.call_id}: attempt failed ({event.why})", recorded)
            _lines(event.detail)


def _title(words: str, recorded: Recorded[Event]) -> None:
    out.print(
        f"── {one_line(words, 160)} (event {recorded.seq}) ──",
        style="bold",
        soft_wrap=True,
    )


def _show_request(request: Request, seen: set[str]) -> None:
    if request.system.text in seen:
        out.print("[the system prompt as before]", style="dim")
    else:
        seen.add(request.system.text)
        for block in _read_list(request.system.text):
            _show_value(block)
    if request.tools is not None:
        tools = _read_list(request.tools.text)
        names = [str(tool.get("name", "")) for tool in tools if isinstance(tool, dict)]
        what = f"[{counted(len(names), 'tool')} offered: {', '.join(names)}]"
        out.print(one_line(what, 300), style="dim", soft_wrap=True)
    out.print(one_line(_told(request), 300), style="dim", soft_wrap=True)
    for message in request.messages:
        out.print(f"{message.role}:", style="bold")
        for content in message.content:
            _show_block(content)


def _told(request: Request) -> str:
    """Returns the limits on the reply: its length, its thinking and effort, and if it may call tools."""
    told = [f"at most {counted(request.max_tokens, 'token')}"]
    if request.extra is not None:
        told.append(request.extra)
    if request.tool_choice is not None:
        told.append(f"tool_choice {request.tool_choice}")
    return f"[{', '.join(told)}]"


def _show_block(block: StoredText) -> None:
    try:
        value = msgspec.json.decode(block.text)
    except (msgspec.MsgspecError, RecursionError):
        value = block.text
    _show_value(value)


def _show_value(value: Any) -> None:
    """Prints a content block: its text, source or tool call."""
    if not isinstance(value, dict):
        _lines(str(value))
        return
    match value.get("type"):
        case "text":
            _lines(str(value.get("text", "")))
        case "search_result":
            _lines(f"[source: {value.get('source', '')}, {value.get('title', '')}]")
            for part in _dicts(value.get("content")):
                _lines(f"  {part.get('text', '')}")
        case "thinking":
            _lines(
                f"[thought: {value.get('thinking') or 'the server does not say what'}]"
            )
        case "tool_use":
            arguments = msgspec.json.encode(value.get("input")).decode()
            _lines(f"[calls {value.get('name', '')} {arguments}]")
        case _:
            _lines(msgspec.json.encode(value).decode())


def _dicts(value: object) -> Sequence[dict[str, Any]]:
    if not isinstance(value, list):
        return ()
    return [part for part in value if isinstance(part, dict)]


def _read_list(text: str) -> Sequence[Any]:
    try:
        value = msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError):
        return [text]
    if isinstance(value, list):
        return value
    return [value]


def _lines(text: str) -> None:
    """Prints a text without control characters."""
    out.print(clean(text), soft_wrap=True)
