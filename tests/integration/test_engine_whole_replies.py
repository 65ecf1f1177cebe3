"""Replies that ask for tools come in one piece once the tools of a service have proved quick, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from antiphon.dispatcher import ToolTimes
from antiphon.engine import ModelSpeeds, Script, ScriptedReply
from antiphon.engine.offline.script import ScriptedCall
from antiphon.vocabulary.events import ReasoningStarted
from tests import virtual_time
from tests.doubled_query import Query, ask

CALLS = (
    ScriptedCall(name="look_up", input={"words": "logs"}),
    ScriptedCall(name="look_up", input={"words": "queues"}),
)
SCRIPT = Script(
    replies=(
        ScriptedReply(calls=CALLS),
        ScriptedReply(calls=(ScriptedCall(name="look_up", input={"words": "ends"}),)),
        ScriptedReply(text="Logs grow."),
    )
)
QUERIES = 6
"""Three runs of tools each, so that the last one knows more than the sixteen that are needed to tell."""


def tool_that_takes(seconds: float) -> Callable[..., Awaitable[object]]:
    async def look_up(words: str) -> str:
        """Looks words up.

        Args:
            words: What to look up.
        """
        await asyncio.sleep(seconds)
        return f"{words} grow"

    return look_up


def one_after_another(tool: Callable[..., Awaitable[object]]) -> list[Query]:
    """Asks the same question several times of one service."""
    speeds, times = ModelSpeeds(), ToolTimes()
    queries: list[Query] = []
    for _ in range(QUERIES + 1):
        queries.append(virtual_time.run(ask(SCRIPT, tool, speeds=speeds, times=times)))
    return queries


def streamed(query: Query) -> list[bool]:
    """Returns for each call whether the engine asked for a stream."""
    asked_for: list[bool] = []
    for event in query.of(ReasoningStarted):
        assert isinstance(event, ReasoningStarted)
        asked_for.append(event.request.stream)
    return asked_for


def kinds(query: Query) -> list[str]:
    return sorted(recorded.event.kind_name() for recorded in query.events)


def test_replies_are_streamed_until_the_tools_have_proved_quick() -> None:
    first, *_, last = one_after_another(tool_that_takes(seconds=0.0))

    assert streamed(first) == [True, True, False]
    assert streamed(last) == [False, False, False]
    assert kinds(first) == kinds(last)
    assert last.outcome.response.answer == first.outcome.response.answer == "Logs grow."


def test_replies_are_streamed_for_tools_that_take_long() -> None:
    last = one_after_another(tool_that_takes(seconds=0.2))[-1]

    assert streamed(last) == [True, True, False]
