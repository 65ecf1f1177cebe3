"""A model that is made when it is first asked."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from antiphon.composition.late_model import LateModel
from antiphon.engine import OFFLINE, offline_model
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.values import Request, StoredText


class Made:
    """Counts how often it is made, and yields two events."""

    name = "made"
    times = 0
    closed = 0
    left = 0

    def make(self) -> Made:
        self.times += 1
        return self

    async def stream(self, request: Request, timeout_s: float) -> AsyncIterator[Json]:
        try:
            yield {"type": "message_start"}
            yield {"type": "message_stop"}
        finally:
            self.left += 1

    async def check_key(self, timeout_s: float) -> bool:
        return timeout_s > 0

    async def aclose(self) -> None:
        self.closed += 1


REQUEST = Request(
    model="m", max_tokens=1, system=StoredText(""), tools=StoredText("[]"), messages=()
)


async def test_it_is_made_once_and_streams_as_it_does() -> None:
    made = Made()
    late = LateModel("made", made.make)
    unasked = made.times

    kinds = [event["type"] async for event in late.stream(REQUEST, 1.0)]
    again = [event["type"] async for event in late.stream(REQUEST, 1.0)]
    late.load()
    await late.aclose()

    assert unasked == 0
    assert kinds == again == ["message_start", "message_stop"]
    assert (made.times, made.closed) == (1, 1)


async def test_a_stream_that_is_left_in_the_middle_is_closed_with_it() -> None:
    made = Made()
    stream = LateModel("made", made.make).stream(REQUEST, 1.0)
    await anext(stream)

    await stream.aclose()  # type: ignore[attr-defined]  # a generator, as the engine closes it

    assert made.left == 1


async def test_its_key_is_checked_once_it_is_made() -> None:
    made = Made()

    accepted = await LateModel("made", made.make).check_key(1.0)

    assert (accepted, made.times) == (True, 1)


async def test_one_that_was_never_asked_is_closed_without_being_made() -> None:
    made = Made()

    await LateModel("made", made.make).aclose()

    assert (made.times, made.closed) == (0, 0)


@pytest.mark.parametrize("name", [OFFLINE])
def test_the_offline_reasoner_is_named_as_its_answers_are(name: str) -> None:
    assert offline_model().name == name
