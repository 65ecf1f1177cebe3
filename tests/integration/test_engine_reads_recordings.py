"""Every recorded exchange, served back over the wire by the double: whole, as a stream, and cut into any pieces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from antiphon.engine import ScriptedReply
from antiphon.vocabulary.events import (
    Event,
    ReasoningCompleted,
    ReasoningFailed,
    TextDelta,
)
from antiphon.vocabulary.ports import Json
from tests.fakes_double import DoubleStage

FOLDER = Path(__file__).parents[3] / "shared/data/claude_wire"
OURS = Path(__file__).parents[1] / "data/replies.jsonl"


class Row(NamedTuple):
    """One exchange: its id, kind, status and body."""

    id: str
    kind: str
    status: int
    body: str


class Told(NamedTuple):
    """What must come of it."""

    text: str
    calls: tuple[tuple[str, str, Json], ...]
    citations: int
    stop_reason: str
    tokens: tuple[int, int, int, int]


def rows(path: Path) -> Iterator[Row]:
    with path.open() as lines:
        for line in lines:
            row = msgspec.json.decode(line)
            yield Row(row["id"], row["kind"], int(row["status"]), row["body"])


def messages(row: Row) -> Iterator[Json]:
    """The messages that a body holds, put together in the plainest way; those that are not complete are left out."""
    if row.kind == "json":
        yield msgspec.json.decode(row.body)
        return
    message: Json = {}
    for line in row.body.splitlines():
        if not line.startswith("data:"):
            continue
        event = msgspec.json.decode(line[5:])
        if event["type"] == "message_start":
            message = event["message"] | {
                "content": list(event["message"].get("content") or [])
            }
        elif event["type"] == "message_stop":
            yield message | {
                "content": [finished(block) for block in message["content"]]
            }
        else:
            grow(message, event)


def grow(message: Json, event: Json) -> None:
    if event["type"] == "content_block_start":
        message["content"].append(dict(event["content_block"]))
    elif event["type"] == "content_block_delta":
        add(message["content"][event["index"]], event["delta"])
    elif event["type"] == "message_delta":
        message["stop_reason"] = event["delta"].get("stop_reason")
        usage = {
            name: count
            for name, count in (event.get("usage") or {}).items()
            if count is not None
        }
        message["usage"] = message["usage"] | usage


def add(block: Json, delta: Json) -> None:
    if delta["type"] == "text_delta":
        block["text"] = block.get("text", "") + delta["text"]
    elif delta["type"] == "input_json_delta":
        block["written"] = block.get("written", "") + delta["partial_json"]
    elif delta["type"] == "citations_delta":
        block["citations"] = [*(block.get("citations") or []), delta["citation"]]


def finished(block: Json) -> Json:
    return (
        block | {"input": readable(block["written"])} if "written" in block else block
    )


def readable(arguments: str) -> Json:
    """The arguments of a call; nothing if they were cut off."""
    try:
        value: Json = msgspec.json.decode(arguments or "{}")
    except msgspec.DecodeError:
        return {}
    return value


def expected(row: Row) -> Told | None:
    """What the recording holds; None if it holds no whole message."""
    message = next(messages(row), None) if row.status == 200 else None
    if message is None or not message.get("id"):
        return None
    content, usage = message["content"], message["usage"]
    calls = tuple(
        (b["id"], b["name"], b.get("input") or {})
        for b in content
        if b["type"] == "tool_use"
    )
    names = (
        "input_tokens",
        "output_tokens",
        "cache_read_input_tokens",
        "cache_creation_input_tokens",
    )
    return Told(
        text="".join(block["text"] for block in content if block["type"] == "text"),
        calls=calls,
        citations=sum(len(block.get("citations") or ()) for block in content),
        stop_reason=message["stop_reason"],
        tokens=tuple(usage.get(name) or 0 for name in names),  # type: ignore[arg-type]  # four names, four counts
    )


def told(done: ReasoningCompleted) -> Told:
    content = [msgspec.json.decode(kept.text) for kept in done.content]
    usage = done.usage
    return Told(
        text=done.text.text,
        calls=tuple(
            (call.id, call.name, readable(call.arguments)) for call in done.tool_calls
        ),
        citations=sum(len(block.get("citations") or ()) for block in content),
        stop_reason=done.stop_reason,
        tokens=(
            usage.input_tokens,
            usage.output_tokens,
            usage.cache_read_tokens,
            usage.cache_write_tokens,
        ),
    )


def served(row: Row, how: str) -> ScriptedReply | None:
    """The reply that plays the row in this way; None if the way is not for it."""
    kind = "text/event-stream" if row.kind == "sse" else "application/json"
    reply = ScriptedReply(
        body=row.body,
        content_type=kind,
        status=row.status,
        headers={"x-should-retry": "false"},
    )
    if how == "whole":
        return reply
    if how == "streamed again":
        message = next(messages(row), None)
        if row.kind != "json" or row.status != 200 or message is None:
            return None
        return ScriptedReply(
            content=message["content"],
            stop_reason=message["stop_reason"],
            usage=message["usage"],
            delta_chars=7,
        )
    if row.kind != "sse":
        return None
    if how == "one byte":
        return msgspec.structs.replace(reply, piece_bytes=1)
    return msgspec.structs.replace(reply, cut_seed=int(how.removeprefix("cut ")))


def check(row: Row, done: Event, stage: DoubleStage) -> None:
    """The event is the right one, and holds the same as the recording."""
    wanted = expected(row)
    if wanted is None:
        assert isinstance(done, ReasoningFailed), row.id
        assert done.failure in (
            "rate_limit",
            "not_found",
            "overloaded",
            "truncated_stream",
            "stream_error",
        ), row.id
        return
    assert isinstance(done, ReasoningCompleted), (row.id, done)
    assert told(done) == wanted, row.id
    assert shown(stage) == wanted.text, row.id


def shown(stage: DoubleStage) -> str:
    """What a live reader has before them at the end."""
    text = ""
    for live in stage.told:
        text = text + live.text if isinstance(live, TextDelta) else ""
    return text


WAYS = ["whole", "streamed again", "one byte", "cut 1", "cut 2"]


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize(
    "name", ["ours", "messages_open.jsonl", "handwritten_fixtures.jsonl"]
)
async def test_every_recorded_exchange_ends_in_the_right_event(
    name: str, how: str
) -> None:
    path = OURS if name == "ours" else FOLDER / name
    if not path.exists():
        pytest.skip(f"NO RECORDED EXCHANGES at {path}: not tested")
    counts: Counter[str] = Counter()
    for row in rows(path):
        reply = served(row, how)
        if reply is None:
            continue
        stage = DoubleStage(reply)
        # Byte by byte the longest reply takes seconds of computing, more on a machine that has other work.
        done = await stage.call(timeout_s=600.0)

        check(row, done, stage)
        counts[type(done).__name__] += 1
    print(f"{name}, {how}: {dict(counts)}")  # noqa: T201 - seen with `pytest -s`: the figures of the issue
    assert counts
