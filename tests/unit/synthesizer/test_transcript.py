"""The transcript mode: the plain growing message list."""

from __future__ import annotations

import json
from typing import Any

from msgspec.structs import replace

from antiphon.vocabulary.events import (
    BreakerTripped,
    BriefingPrepared,
    Event,
    ReasoningCompleted,
    ToolFailed,
)
from antiphon.vocabulary.values import StoredText, ToolCall
from tests.unit.synthesizer import stories
from tests.unit.synthesizer.stories import Told


def told(*events: Event) -> Told:
    asked = stories.asked()
    return Told(
        replace(asked, settings=replace(asked.settings, context="transcript")), *events
    )


def said(
    *calls: ToolCall, words: str = "Let me look.", round_: int = 1
) -> ReasoningCompleted:
    blocks: list[dict[str, object]] = [{"type": "text", "text": words}]
    blocks += [
        {
            "type": "tool_use",
            "id": c.id,
            "name": c.name,
            "input": json.loads(c.arguments),
        }
        for c in calls
    ]
    content = tuple(StoredText(json.dumps(block)) for block in blocks)
    return replace(stories.replied(*calls, text=words, round_=round_), content=content)


def shown(briefing: BriefingPrepared) -> list[tuple[str, list[dict[str, Any]]]]:
    return [
        (message.role, [json.loads(block.text) for block in message.content])
        for message in briefing.messages
    ]


def round_of_two(text: str = "Logs grow. They are read.") -> tuple[Event, ...]:
    calls = (stories.call("a"), stories.call("b", '{"query": "x"}'))
    found = stories.found("a", stories.passage(text), output="[Logs]")
    failed = ToolFailed(
        tool_call_id="b", name="search", failure="error", detail="the index is gone"
    )
    return (
        said(*calls),
        *stories.requested(*calls),
        failed,
        found,
        stories.settled("a", failed=("b",)),
    )


def test_each_reply_goes_back_as_it_came_and_each_call_is_answered_in_order() -> None:
    story = told(*round_of_two(), stories.opened(2))

    (first, question), (second, reply), (third, answers) = shown(story.briefing)

    assert (first, second, third) == ("user", "assistant", "user")
    assert "What is a log?" in question[0]["text"]
    assert [block["type"] for block in reply] == ["text", "tool_use", "tool_use"]
    assert [
        (block["tool_use_id"], block.get("is_error", False)) for block in answers
    ] == [("a", False), ("b", True)]
    assert [part["text"] for part in answers[0]["content"][0]["content"]] == [
        "Logs grow. ",
        "They are read.",
    ]
    assert answers[1]["content"] == [{"type": "text", "text": "the index is gone"}]
    assert [(row.fact_id, row.sentences) for row in story.briefing.sources] == [
        ("f1", (0, 1))
    ]


def test_what_was_sent_once_stands_first_in_every_later_request() -> None:
    story = told(*round_of_two(), stories.opened(2))
    earlier = story.briefing
    again = stories.call("c")
    story.tell(said(again, round_=2), *stories.requested(again, round_=2))
    story.tell(
        stories.found("c", stories.passage("Logs grow. They are read.")),
        stories.settled("c", round_=2),
    )
    story.tell(stories.opened(3, final=True))

    assert story.briefing.messages[:3] == earlier.messages
    assert [row.fact_id for row in story.briefing.sources] == ["f1", "f1"]
    assert "no tools" in shown(story.briefing)[-1][1][-1]["text"]
    assert shown(story.briefing)[-1][1][0]["type"] == "tool_result"


def test_a_call_that_the_breaker_refused_is_answered_with_its_reason() -> None:
    refused = BreakerTripped(
        limit="repeated_call", detail="it was called before", tool_call_id="a"
    )
    story = told(
        said(stories.call("a"), stories.call("b"), words=" "),
        refused,
        stories.opened(2, final=True),
    )

    _, (_, reply), (_, answers) = shown(story.briefing)

    assert [block["type"] for block in reply] == ["tool_use", "tool_use"]
    assert [block["content"][0]["text"] for block in answers[:2]] == [
        "it was called before",
        "The call was not run.",
    ]
    assert all(block["is_error"] for block in answers[:2])
