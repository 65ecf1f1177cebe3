"""Every kind of failure at every place of a reply: the event that it becomes, and what a further attempt brings."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from antiphon.engine import ScriptedReply
from antiphon.engine.offline.script import Break, Place, ScriptedCall
from antiphon.vocabulary.events import (
    ReasoningCompleted,
    ReasoningFailed,
    ReasoningRetried,
    ReasoningStarted,
    TextDelta,
    TextDiscarded,
    ToolCallStreamed,
)
from tests.fakes_double import DoubleStage

TABLE = Path(__file__).parents[2] / "docs/failures.md"
PLACES: tuple[Place, ...] = get_args(Place)
CALLS = (
    ScriptedCall(name="search", input={"query": "logs"}),
    ScriptedCall(name="search", input={"query": "queues"}),
)
WHOLE = ScriptedReply(text="Let me look it up for you.", calls=CALLS, delta_chars=8)


def refusal(status: int, kind: str, **headers: str) -> ScriptedReply:
    return ScriptedReply(
        status=status,
        error=kind,
        headers={n.replace("_", "-"): v for n, v in headers.items()},
    )


def page(status: int) -> ScriptedReply:
    return ScriptedReply(
        status=status, body="<html>Sorry</html>", content_type="text/html"
    )


def broken(how: str, error: str = "overloaded_error") -> dict[Place, ScriptedReply]:
    """The same breakage at each place of a reply of words and two tool calls."""
    replies = {}
    for place in PLACES:
        breaks = Break(at=place, how=how, error=error)  # type: ignore[arg-type]  # the names are written below
        replies[place] = ScriptedReply(
            text=WHOLE.text, calls=CALLS, delta_chars=8, breaks=breaks
        )
    return replies


FAILURES: dict[str, dict[Place, ScriptedReply]] = {
    "429 rate limit": {"first_byte": refusal(429, "rate_limit_error")},
    "529 overloaded": {"first_byte": refusal(529, "overloaded_error")},
    "500 server error": {"first_byte": refusal(500, "api_error")},
    "502 page that is no JSON": {"first_byte": page(502)},
    "200 page that is no JSON": {"first_byte": page(200)},
    "401 authentication": {"first_byte": refusal(401, "authentication_error")},
    "404 model not found": {"first_byte": refusal(404, "not_found_error")},
    "404 no such path": {"first_byte": page(404)},
    "400 invalid request": {"first_byte": refusal(400, "invalid_request_error")},
    "400 prompt too long": {
        "first_byte": ScriptedReply(
            status=400,
            error="invalid_request_error",
            message="prompt is too long: 9 > 8",
        )
    },
    "413 too large": {"first_byte": refusal(413, "request_too_large")},
    "500, x-should-retry: false": {
        "first_byte": refusal(500, "api_error", x_should_retry="false")
    },
    "400, x-should-retry: true": {
        "first_byte": refusal(400, "invalid_request_error", x_should_retry="true")
    },
    "connection reset": broken("reset"),
    "the stream ends": broken("end"),
    "nothing more comes": broken("stall"),
    "error event: overloaded": broken("error"),
    "error event: rate limit": broken("error", "rate_limit_error"),
    "error event: api_error": broken("error", "api_error"),
    "error event: invalid request": broken("error", "invalid_request_error"),
    "something that is no JSON": broken("garbage"),
}


async def outcome(first: ScriptedReply) -> str:
    """What the failure becomes: its kind, and whether another attempt is made (which must then bring the reply)."""
    stage = DoubleStage(first, WHOLE, silence_s=0.02)
    done = await stage.call()
    ends = [
        event
        for event in stage.published
        if isinstance(event, ReasoningCompleted | ReasoningFailed)
    ]
    assert ends == [done], "exactly one outcome"
    if isinstance(done, ReasoningFailed):
        assert len(stage.double.requests) == 1
        assert not done.retryable
        return f"{done.failure}, no further attempt"
    (retried,) = (
        event for event in stage.published if isinstance(event, ReasoningRetried)
    )
    assert len(stage.double.requests) == 2
    check_reply(stage, done)
    return f"{retried.why}, tried again"


def check_reply(stage: DoubleStage, done: object) -> None:
    """The reply is the second attempt's alone, and a live reader has just its text."""
    assert isinstance(done, ReasoningCompleted)
    assert done.text.text == WHOLE.text
    assert [call.name for call in done.tool_calls] == ["search", "search"]
    last = max(
        at for at, live in enumerate(stage.told) if isinstance(live, TextDiscarded)
    )
    assert (
        "".join(live.text for live in stage.told[last:] if isinstance(live, TextDelta))
        == WHOLE.text
    )
    assert [
        event.attempt
        for event in stage.published
        if isinstance(event, ReasoningStarted)
    ] == [1, 2]
    streamed = [
        event.call.id
        for event in stage.published
        if isinstance(event, ToolCallStreamed)
    ]
    assert len(set(streamed)) == len(streamed)
    assert [call.id for call in done.tool_calls] == streamed[-2:]


async def test_every_failure_at_every_place_is_the_event_that_the_table_says() -> None:
    rows = [
        f"| failure | {' | '.join(place.replace('_', ' ') for place in PLACES)} |",
        "|---" * 5 + "|",
    ]
    for name, replies in FAILURES.items():
        cells = [
            await outcome(replies[place]) if place in replies else "-"
            for place in PLACES
        ]
        rows.append(f"| {name} | {' | '.join(cells)} |")
    table = "\n".join(rows)
    print(table)  # noqa: T201 - the table, with `pytest -s`

    assert table in TABLE.read_text(encoding="utf-8"), (
        f"docs/failures.md must hold this table:\n{table}"
    )


async def test_attempts_end_and_their_waits_grow() -> None:
    stage = DoubleStage(refusal(529, "overloaded_error"), chance=lambda: 0.5)

    done = await stage.call()

    assert isinstance(done, ReasoningFailed)
    assert (done.failure, done.retryable) == ("overloaded", True)
    waits = [
        event.wait_s for event in stage.published if isinstance(event, ReasoningRetried)
    ]
    assert waits == [0.375, 0.75, 1.5]


@pytest.mark.parametrize(("timeout_s", "attempts"), [(60.0, 4), (1.2, 1)])
async def test_no_attempt_is_made_that_does_not_fit_the_time_of_the_call(
    timeout_s: float, attempts: int
) -> None:
    stage = DoubleStage(refusal(529, "overloaded_error", retry_after_ms="1000"))

    await stage.call(timeout_s=timeout_s)

    assert len(stage.double.requests) == attempts
