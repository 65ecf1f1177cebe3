"""Five scripted queries, and how each layer of memory stands after each of their events, as text for people.

`python -m tests.unit.synthesizer.scenarios` writes the expected files anew; read the difference before you keep it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from antiphon.synthesizer import MemoryView, memory_at
from antiphon.vocabulary.events import (
    BreakerTripped,
    BriefingPrepared,
    Event,
    Recorded,
    ToolFailed,
    ToolSubstituted,
)
from antiphon.vocabulary.values import Exchange, Passage
from tests.unit.synthesizer.stories import (
    Told,
    asked,
    call,
    found,
    opened,
    passage,
    replied,
    requested,
    round_of,
    settled,
)

FOLDER = Path(__file__).parent / "evolution"
LOGS = passage(
    "A log is only appended to. Nothing in it ever changes. Rain fell on the old harbour that day."
)
QUEUES = passage(
    "A queue hands each message to one consumer. Lunch was at noon.",
    course="Queues",
    lesson=2,
)
AGAIN = passage(
    "A message in a queue is gone once it is acknowledged.", course="Queues", lesson=3
)
OUTLINE = Passage(
    id="outline",
    source="Queues",
    text=passage("Course: Queues Lesson 1: Why queues Lesson 2: Consumers").text,
    starts=(0, 15, 36),
    course="Queues",
    kind="outline",
)


def _place(cut: Passage, start: int) -> Passage:
    return msgspec.structs.replace(cut, start=start)


def one_round() -> tuple[Event, ...]:
    return (
        asked("What is a log?"),
        opened(),
        *round_of(found("a", LOGS)),
        opened(2, left=0),
    )


def comparison_in_two_rounds() -> tuple[Event, ...]:
    first: tuple[Event, ...] = (
        replied(call("a"), text="I look for logs first."),
        *requested(call("a")),
    )
    sought = call("b", '{"query": "queue", "why": "the other side is missing"}')
    second: tuple[Event, ...] = (
        replied(sought, round_=2),
        *requested(sought, round_=2),
    )
    return (
        asked("Compare a log with a queue."),
        opened(),
        *first,
        found("a", LOGS),
        settled("a"),
        opened(2, left=0),
        *second,
        found("b", QUEUES, AGAIN),
        settled("b", round_=2),
        opened(3, final=True),
    )


def neighbours_and_twins() -> tuple[Event, ...]:
    text = "Each reader of the log keeps its own place, which is the number of the next record that it wants to read."
    first, second = (
        _place(passage("A log grows at its end."), 0),
        _place(passage("It never shrinks by itself."), 24),
    )
    twin = passage(text.replace("it wants", "it asks"), course="Streams", lesson=7)
    return (
        asked("How does a log grow?"),
        *round_of(found("a", first, passage(text, lesson=5))),
        opened(2),
        *round_of(found("b", second, twin), round_=2),
        opened(3, final=True),
    )


def trouble() -> tuple[Event, ...]:
    a, b, c = (
        call("a"),
        call("b", '{"query": "log"}'),
        call("c", '{"course_name": "Q"}', "get_course_outline"),
    )
    return (
        asked("What do queues teach?", courses="Queues"),
        replied(a, b, c),
        *requested(a, c),
        BreakerTripped(limit="repeated_call", detail="asked before", tool_call_id="b"),
        ToolSubstituted(
            tool_call_id="a",
            failed="search_course_content",
            substitute="keyword_search",
            arguments="{}",
            why="error",
        ),
        ToolFailed(
            tool_call_id="a",
            name="keyword_search",
            failure="error",
            detail="The index is away.",
        ),
        found("c", OUTLINE),
        settled("c", failed=("a",)),
        opened(2, left=0),
    )


def follow_up_over_a_small_budget() -> tuple[Event, ...]:
    history = (
        Exchange(
            question="Compare a log with a queue.",
            answer="A log keeps, a queue hands on.",
        ),
    )
    long = passage(
        "A queue hands each message on. "
        + "".join(f"Clerk {n} eats bread. " for n in range(40)),
        lesson=6,
    )
    return (
        asked("And the second one?", history=history, budget=200),
        opened(),
        *round_of(found("a", QUEUES, long)),
        opened(2, final=True),
    )


SCENARIOS = (
    one_round,
    comparison_in_two_rounds,
    neighbours_and_twins,
    trouble,
    follow_up_over_a_small_budget,
)


def told(events: Sequence[Event]) -> str:
    """The layers after each event, of which only the lines that are new are shown, and each briefing's changes."""
    lines: list[str] = []
    before: list[str] = []
    whole = list(_with_briefings(events))
    recorded = [
        Recorded[Event](query_id="q", seq=n, cause=0, at=0.0, event=e)
        for n, e in enumerate(whole, 1)
    ]
    for said in recorded:
        lines.append(f"{said.seq} {type(said.event).__name__}")
        now = list(_layers(memory_at(recorded, said.seq)))
        lines += [f"    {line}" for line in now if line not in before]
        lines += [f"  - {line}" for line in before if line not in now]
        if isinstance(said.event, BriefingPrepared):
            lines += [f"    {line}" for line in _briefing(said.event)]
        before = now
    return "\n".join(lines) + "\n"


def _with_briefings(events: Sequence[Event]) -> Iterator[Event]:
    story = Told()
    for event in events:
        yield event
        had = len(story.published)
        story.tell(event)
        yield from (
            said for said in story.published[had:] if isinstance(said, BriefingPrepared)
        )


def _layers(view: MemoryView) -> Iterator[str]:
    yield from _intent(view)
    for fact in view.facts:
        notes = (
            f" with {', '.join(fact.merged)}"
            if fact.merged
            else f" like {fact.like}"
            if fact.like
            else ""
        )
        head = f"facts: {fact.id} ({fact.kind}) of round {fact.round}, {fact.source}{notes}: "
        yield head + " | ".join(fact.sentences)[:120]
    for tried in view.attempts:
        outcome = f"{tried.outcome}, new {tried.new_facts}, {tried.detail}"
        yield f"usage: {tried.id} {tried.tool} {tried.arguments}: {outcome}"
    for place in view.coverage:
        yield f"usage: reached {place.course} lesson {place.lesson}: {', '.join(place.facts)}"
    for line in view.said:
        yield f"reasoning: {line}"


def _intent(view: MemoryView) -> Iterator[str]:
    for part in view.parts:
        served = ", ".join(part.facts) or "nothing"
        yield f"intent: part {part.number} ({part.kind}) {part.text!r}: {served}"
    if view.meant != view.question:
        yield f"intent: meant as {view.meant!r}"
    for stood in view.history:
        yield f"intent: after round {stood.round} served {stood.served}, open {stood.open}"
    if view.beyond:
        yield f"intent: sought beyond the question: {', '.join(view.beyond)}"


def _briefing(event: BriefingPrepared) -> Iterator[str]:
    for source in event.sources:
        yield f"shown: {source.fact_id} {source.sentences}"
    for change in event.changes:
        numbers = change.sentences or "all"
        yield f"change: {change.what} {change.change} {numbers}: {change.why} ({change.tokens} tokens)"


if __name__ == "__main__":
    for scenario in SCENARIOS:
        (FOLDER / f"{scenario.__name__}.txt").write_text(
            told(scenario()), encoding="utf-8"
        )
