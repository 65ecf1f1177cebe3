"""A model in this process that makes a given number of tool calls, and answers after a given delay."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from antiphon.dispatcher import quotable
from antiphon.engine import events_of, request_json
from antiphon.vocabulary.ports import Json, ToolOutput
from antiphon.vocabulary.values import Request, Value

ANSWER = "BM25 ranks documents by term frequency, document length and rarity. " * 6
TOOL = "search_course_content"


_WORDS = tuple(
    " ".join(
        (
            "actor alarm atlas badge baker basin beacon bishop bottle bridge",
            "bucket butter cabin camel canal candle castle cellar chapel cherry",
            "circus cobalt copper corner cotton dagger desert dinner dragon engine",
            "falcon feather fiddle forest garden ginger glacier hammer harbor",
            "helmet insect island jacket jungle kettle ladder lantern lemon magnet",
            "marble meadow mirror monkey needle oyster pepper pirate pocket rabbit",
            "saddle silver",
        )
    ).split()
)
_COURSES = 20


def name_of(number: int) -> str:
    """Returns three different words for each number, from a small vocabulary like that of a course."""
    words = []
    for _ in range(3):
        number, word = divmod(number, len(_WORDS))
        words.append(_WORDS[word])
    return " ".join(words)


class Work(Value, frozen=True, kw_only=True):
    """The work of one query.

    Attributes:
        rounds: Rounds of tool calls.
        calls: Tool calls in each round.
        passages: Passages that each tool call returns, all of them different.
        latency_s: Seconds before each reply of the model.
    """

    rounds: int = 2
    calls: int = 2
    passages: int = 2
    latency_s: float = 0.0


class WorkingModel:
    """Plays the Messages API without HTTP, request after request of any number of queries."""

    name = "double"

    def __init__(self, work: Work) -> None:
        self._work = work
        self._requests = 0

    async def stream(self, request: Request, _timeout_s: float) -> AsyncIterator[Json]:
        body = request_json(request)
        if self._work.latency_s:
            await asyncio.sleep(self._work.latency_s)
        self._requests += 1
        blocks: list[Json] = []
        stop = "tool_use"
        # The last request of a query offers no tools.
        if "tools" in body:
            for number in range(self._work.calls):
                blocks.append(self._call(number))
        else:
            blocks.append({"type": "text", "text": ANSWER})
            stop = "end_turn"
        message: Json = {
            "id": "m",
            "model": "double",
            "content": blocks,
            "stop_reason": stop,
            "usage": {"input_tokens": 100, "output_tokens": 50},
        }
        for event in events_of(message):
            yield event

    def _call(self, number: int) -> Json:
        # Each call is different, because the service would answer a repeated one from memory.
        text = f"bm25 {self._requests} {number}"
        call_id = f"toolu_{self._requests}_{number}"
        return {
            "type": "tool_use",
            "id": call_id,
            "name": TOOL,
            "input": {"text": text},
        }


class Tools:
    """The tools that models call; they return different passages each time, at no cost of their own."""

    def __init__(self, passages: int) -> None:
        self._passages = passages
        self._calls = 0

    async def search_course_content(self, text: str) -> ToolOutput:
        """Search course materials.

        Args:
            text: What to search for.
        """
        self._calls += 1
        passages = []
        for number in range(self._passages):
            name = name_of(self._calls * self._passages + number)
            said = (
                f"The {name} says how documents are ranked. "
                f"Rare words of the {name} weigh more than common ones for {text}. "
                "Long documents are held back by their length."
            )
            course = _WORDS[(self._calls + number) % _COURSES]
            passages.append(quotable(f"Course of the {course}", said))
        return ToolOutput(text=f"{len(passages)} passages", passages=tuple(passages))
