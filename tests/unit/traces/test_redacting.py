"""What a pattern matches is blotted out of every text of an event, and nothing else of it changes."""

from __future__ import annotations

from typing import get_type_hints

import msgspec
import pytest
from msgspec.structs import replace

from antiphon.dispatcher import quotable
from antiphon.traces import Redaction
from antiphon.traces.redacting import redacted_fields
from antiphon.vocabulary.catalog import BUILT_IN
from antiphon.vocabulary.errors import ConfigurationError
from antiphon.vocabulary.events import (
    Event,
    ReasoningCompleted,
    SummaryCompleted,
    ToolRequested,
    ToolSucceeded,
)
from antiphon.vocabulary.fields import Id, Mark, Name, Untrusted, leaves_of
from antiphon.vocabulary.values import StoredText, ToolCall, Usage
from tests.story import tool_succeeded

SECRET = "KEY-4711"
BLOTTED = "████████"
REDACTION = Redaction({"the pattern": r"KEY-\d{4}"})
API_KEY = f"sk-ant-api03-{'x9_Qf' * 19}-AA"


class NoteTaken(Event, frozen=True, kw_only=True, tag="note_taken"):
    """An event from outside whose fields are named like ids and names of ours."""

    emitted_by = ("tester",)

    id: Id
    name: Untrusted
    session_id: str
    tools: tuple[str, ...]
    settings: tuple[tuple[Name, str], ...]


def completed(*blocks: dict[str, object]) -> ReasoningCompleted:
    """A reply of these blocks."""
    return ReasoningCompleted(
        call_id="call-1",
        round=1,
        content=tuple(
            StoredText(msgspec.json.encode(block).decode()) for block in blocks
        ),
        text=StoredText(
            "".join(str(block["text"]) for block in blocks if block["type"] == "text")
        ),
        tool_calls=(),
        citations=(),
        stop_reason="end_turn",
        usage=Usage(),
        model="m",
        message_id="msg",
    )


def blocks_of(reply: ReasoningCompleted | SummaryCompleted) -> list[object]:
    return [msgspec.json.decode(block.text) for block in reply.content]


def test_a_redacted_passage_has_the_id_that_its_new_text_gives_it() -> None:
    found = quotable("Course", f"The key is {SECRET}.")
    event = tool_succeeded("nothing", "other")

    (redacted,) = REDACTION.event(replace(event, passages=(found,))).passages

    assert redacted == quotable("Course", f"The key is {BLOTTED}.")


def test_texts_that_are_met_again_in_other_objects_change_nothing() -> None:
    redaction = Redaction(secrets=[API_KEY])
    source, text = (
        "Course - Lesson 1",
        "Ranking weighs terms. It does so by how rare they are.",
    )

    for _ in range(3):
        found = quotable("".join(source), "".join(list(text)))
        event = ToolSucceeded(
            tool_call_id="t1",
            name="n",
            output=StoredText(text),
            passages=(found,),
            duration_ms=1.0,
        )
        assert redaction.event(event) is event


def test_fields_of_an_event_from_outside_are_redacted_by_their_marks_and_not_by_their_names() -> (
    None
):
    event = NoteTaken(
        id=SECRET,
        name=f"a {SECRET}",
        session_id=SECRET,
        tools=(SECRET, "b"),
        settings=((SECRET, SECRET),),
    )

    redacted = REDACTION.event(event)

    assert redacted == NoteTaken(
        id=SECRET,
        name=f"a {BLOTTED}",
        session_id=BLOTTED,
        tools=(BLOTTED, "b"),
        settings=((BLOTTED, BLOTTED),),
    )


def test_a_summary_that_says_a_secret_across_two_blocks_is_redacted_in_both() -> None:
    reply = completed(
        {"type": "text", "text": "It is KEY-"}, {"type": "text", "text": "4711."}
    )
    summary = SummaryCompleted(
        call_id="summary-1",
        for_call="call-1",
        content=reply.content,
        text=reply.text,
        stop_reason="end_turn",
        usage=Usage(),
        model="m",
        message_id="msg",
    )

    redacted = REDACTION.event(summary)

    assert redacted.text.text == f"It is {BLOTTED}."
    assert blocks_of(redacted) == [
        {"type": "text", "text": "It is ████"},
        {"type": "text", "text": "████."},
    ]


def test_arguments_stay_json_whatever_is_blotted_in_them() -> None:
    arguments = '{"query":"a \\"quoted\\" KEY-4711\\n","pin":12345678,"id":"KEY-4711","KEY-4711":true}'
    call = ToolCall(id="KEY-4711", name="search", arguments=arguments)

    blotted = Redaction({"a": r"KEY-\d{4}", "b": r"\d{8}"}).event(
        ToolRequested(round=1, call=call, timeout_s=1.0)
    )

    assert msgspec.json.decode(blotted.call.arguments) == {
        "query": f'a "quoted" {BLOTTED}\n',
        "pin": BLOTTED,
        "id": BLOTTED,
        BLOTTED: True,
    }
    assert blotted.call.id == "KEY-4711"


def test_what_holds_a_content_block_together_is_never_blotted() -> None:
    block: dict[str, object] = {
        "type": "tool_use",
        "id": "text",
        "name": "text",
        "input": {"type": "text", "n": "text"},
    }

    blotted = Redaction({"the pattern": "text|tool_use"}).event(completed(block))

    assert blocks_of(blotted) == [
        {
            "type": "tool_use",
            "id": "text",
            "name": "text",
            "input": {"type": "████", "n": "████"},
        }
    ]


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("KEY-4711(", "no regular expression"),
        ("a*", "matches the empty text"),
        ("(a+)+b", "took more than 2 s"),
        ("(" * 9_999, "too deep"),
        ("(?R)", "calls itself"),
    ],
)
def test_a_pattern_that_cannot_be_used_is_refused_by_its_place_and_not_shown(
    pattern: str, why: str
) -> None:
    with pytest.raises(ConfigurationError, match=f"^line 3,.*{why}") as refused:
        Redaction({"line 3,": pattern})

    assert SECRET not in str(refused.value)


def test_a_text_that_takes_too_long_is_blotted_whole() -> None:
    # Its own letters do not show that it is slow, so it passes the check.
    redaction = Redaction({"the pattern": r"(\p{Greek}+)+\d"})

    blotted = redaction.text("λ" * 5_000 + "!")

    assert blotted == "█" * 5_001


FREE_TEXTS = frozenset({"why", "detail", "error", "title", "query", "text", "answer"})
"""Names that we give to fields which hold sentences of servers, tools, documents and people."""


def fields_of_free_text() -> list[tuple[type[msgspec.Struct], str]]:
    """Returns the fields of free text of all events, and of all values that events hold."""
    found: list[tuple[type[msgspec.Struct], str]] = []
    waiting: list[type[msgspec.Struct]] = list(BUILT_IN.events)
    seen = set(waiting)
    while waiting:
        struct = waiting.pop()
        for name, hint in get_type_hints(struct, include_extras=True).items():
            for leaf in leaves_of(hint):
                if leaf.is_struct and leaf.kind not in seen:
                    seen.add(leaf.kind)
                    waiting.append(leaf.kind)
                if name in FREE_TEXTS and leaf.kind is str:
                    found.append((struct, name))
    return found


@pytest.mark.parametrize(("struct", "name"), fields_of_free_text())
def test_no_free_text_counts_as_the_name_of_something(
    struct: type[msgspec.Struct], name: str
) -> None:
    marks = dict(redacted_fields(struct))

    assert marks.get(name) in (Mark.UNTRUSTED, Mark.JSON)
