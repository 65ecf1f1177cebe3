"""What building one briefing costs, by the number of facts; no embedder is asked, whatever the budget."""

from __future__ import annotations

import time

from antiphon.language.sentences import sentence_starts
from antiphon.synthesizer.briefing import brief
from antiphon.synthesizer.memory import Memory, remember, settle
from antiphon.vocabulary.events import QueryReceived, RoundOpened, ToolRequested, ToolsSettled, ToolSucceeded
from antiphon.vocabulary.values import Passage, QuerySettings, StoredText, ToolCall, Value

SENTENCES = 8
TIMES = 15


class Speed(Value, frozen=True, kw_only=True):
    """CPU milliseconds of one briefing, the best of several."""

    facts: int
    sentences: int
    budget: int
    cpu_ms: float


def measure_speed() -> tuple[Speed, ...]:
    """40 facts within and over the budget, then two, four and eight times as many."""
    return tuple(
        _measure(facts, budget)
        for facts, budget in ((40, 24_000), (40, 2_000), (80, 2_000), (160, 2_000), (320, 2_000))
    )


def _measure(facts: int, budget: int) -> Speed:
    memory = _memory(facts, budget)
    opened = RoundOpened(round=2, call_id="call-2", final=False, rounds_left=0)
    best = min(_spent(memory, opened) for _ in range(TIMES))
    return Speed(facts=facts, sentences=facts * SENTENCES, budget=budget, cpu_ms=round(best * 1000, 2))


def _spent(memory: Memory, opened: RoundOpened) -> float:
    start = time.process_time()
    brief(memory, opened)
    return time.process_time() - start


def _memory(facts: int, budget: int) -> Memory:
    settings = QuerySettings(briefing_tokens=budget)
    call = ToolCall(id="toolu_1", name="search_course_content", arguments='{"query": "how logs keep their order"}')
    passages = tuple(_passage(number) for number in range(facts))
    memory = remember(
        Memory(), QueryReceived(query="How does a log keep its order?", session_id="s", settings=settings)
    )
    memory = remember(memory, ToolRequested(round=1, call=call, timeout_s=1.0))
    found = ToolSucceeded(
        tool_call_id=call.id, name=call.name, output=StoredText(""), passages=passages, duration_ms=0.0
    )
    memory, _ = settle(remember(memory, found), ToolsSettled(round=1, succeeded=(call.id,), failed=()))
    return memory


def _passage(number: int) -> Passage:
    text = " ".join(
        f"Part {at} of text {number} tells how log {number * at} keeps the order of record {at * 7} for its readers."
        for at in range(SENTENCES)
    )
    return Passage(
        id=f"p{number}",
        source=f"Logs {number % 5} - Lesson {number}",
        text=StoredText(text),
        starts=sentence_starts(text),
        title=f"Topic {number} of Logs",
        course=f"Logs {number % 5}",
        lesson=number,
        score=10 / (1 + number),
    )
