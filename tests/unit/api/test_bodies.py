"""The time of a body ends with the body: whoever waits for an answer after it is not told to send faster."""

from __future__ import annotations

import asyncio

import pytest
from starlette.types import Message, Receive, Scope, Send

from antiphon.api.bodies import BodyLimit
from antiphon.api.errors import Refusal
from tests.virtual_time import run

SCOPE: Scope = {"type": "http", "path": "/", "headers": []}
PART: Message = {"type": "http.request", "body": b"x", "more_body": True}
GONE: Message = {"type": "http.disconnect"}


def heard(*messages: tuple[float, Message]) -> list[str]:
    """The kinds of messages that reach an app which reads all: each comes so many seconds after the one before."""
    left = list(messages)
    kinds: list[str] = []

    async def receive() -> Message:
        seconds, message = left.pop(0)
        await asyncio.sleep(seconds)
        return message

    async def read_all(scope: Scope, receive: Receive, send: Send) -> None:
        while left:
            kinds.append((await receive())["type"])

    async def send(message: Message) -> None:
        """Takes nothing."""

    async def called() -> None:
        limit = BodyLimit(read_all, max_bytes=10, larger={}, within_s=5.0)
        await limit(SCOPE, receive, send)

    run(called())
    return kinds


@pytest.mark.parametrize(
    "last",
    [{"type": "http.request", "body": b"x"}, {"type": "http.request", "more_body": False}],
)  # fmt: skip
def test_after_the_whole_body_a_caller_may_wait_as_long_as_it_takes(
    last: Message,
) -> None:
    assert heard((1.0, PART), (1.0, last), (100.0, GONE)) == [
        "http.request",
        "http.request",
        "http.disconnect",
    ]


def test_a_body_that_is_not_whole_in_time_is_refused() -> None:
    with pytest.raises(Refusal, match="not come whole after 5 seconds"):
        heard((3.0, PART), (3.0, PART))
