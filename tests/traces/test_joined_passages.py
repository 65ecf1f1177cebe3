"""Adjacent passages of a lesson become one fact, which can be dropped and redacted like any other."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from antiphon.dispatcher import Registry, tool_from_function
from antiphon.history.origins import facts_in, found_passages
from antiphon.service import Change, History, lineage, replay, trace_test
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.events import Event, Recorded, ToolSucceeded
from antiphon.vocabulary.ports import ToolOutput
from antiphon.vocabulary.values import Passage, StoredText
from tests.traces.stage import Stage

SECRET = "minutes"


def chunk(number: int) -> Passage:
    text = f"BM25 ranks documents by rare words in {number} {SECRET} at most, as lesson {number} of the course says. "
    return Passage(
        id=f"chunk-{number}",
        source="Search - Lesson 1",
        text=StoredText(text),
        course="Search",
        lesson=1,
        start=number * len(text),
    )


async def search_course_content(text: str) -> ToolOutput:
    """Searches."""
    return ToolOutput(text=f"about {text}", passages=(chunk(0), chunk(1)))


async def get_course_outline(text: str) -> str:
    """Outlines."""
    return f"Lesson 1 of {text}."


@pytest_asyncio.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    made = Stage(tmp_path)
    registry = Registry(
        [
            tool_from_function(search_course_content),
            tool_from_function(get_course_outline),
        ]
    )
    made.parts = dataclasses.replace(
        made.parts, tools=registry, tool_definitions=registry.definitions()
    )
    made.history = History(made.bus, made.parts, made.store)
    yield made
    await made.store.close()


def brought(events: list[Recorded[Event]]) -> set[str]:
    return {
        each.id
        for said in events
        if isinstance(said.event, ToolSucceeded)
        for each in said.event.passages
    }


async def test_what_if_a_fact_of_several_passages_had_not_been_found(
    stage: Stage,
) -> None:
    before = list(await stage.ask())
    joined = next(
        fact for fact in facts_in(before).values() if SECRET in fact.passage.text.text
    )
    assert (
        found_passages(before, joined.id)
        == found_passages(before, joined.passage.id)
        == ["chunk-0", "chunk-1"]
    )

    for name in (joined.id, joined.passage.id):
        running = await stage.history.fork(
            "q1", None, [Change(kind="drop", name=name)], "recorded"
        )
        await running.outcome()
        forked = list(await stage.store.read(running.query_id))

        assert brought(before) >= {"chunk-0", "chunk-1"}
        assert not brought(forked) & {"chunk-0", "chunk-1"}
        assert replay(forked).divergence is None


async def test_a_fork_from_any_event_refuses_an_unknown_name(
    stage: Stage,
) -> None:
    await stage.ask()

    for at in (None, 2):
        with pytest.raises(BadInputError, match="Nothing in the trace is called 'f99'"):
            await stage.history.fork(
                "q1", at, [Change(kind="drop", name="f99")], "recorded"
            )


async def test_a_trace_with_redacted_words_in_a_joined_passage_still_replays(
    stage: Stage,
) -> None:
    events = await stage.ask()

    data, test = trace_test(events, "mine", [SECRET])

    assert SECRET.encode() not in data
    assert SECRET not in test
    assert b"xxxxxxx" in data
    assert lineage(events)
