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
    ReasoningRetried,
    SummaryCompleted,
    ToolFailed,
    ToolRequested,
    ToolSubstituted,
    ToolSucceeded,
)
from antiphon.vocabulary.fields import Id, Mark, Name, Untrusted, leaves_of
from antiphon.vocabulary.values import StoredText, ToolCall, Usage
from tests.story import query_received, tool_succeeded

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


def test_a_question_and_its_conversation_are_blotted() -> None:
    event = REDACTION.event(query_received(f"What is {SECRET}?", session_id=SECRET))

    assert event.query == f"What is {BLOTTED}?"
    assert event.session_id == SECRET, "the name of something is no text"


def test_an_event_in_which_nothing_matches_stays_the_same_object() -> None:
    event = tool_succeeded("KEY-12", "nothing")

    assert REDACTION.event(event) is event


def test_a_passage_keeps_its_length_and_loses_the_id_that_its_text_had() -> None:
    event = tool_succeeded(f"One. The key is {SECRET}. Two.", "other")

    first, second = REDACTION.event(event).passages

    assert first.text.text == f"One. The key is {BLOTTED}. Two."
    assert first.id != event.passages[0].id
    assert second is event.passages[1]


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


def test_arguments_that_were_cut_off_are_blotted_as_text() -> None:
    call = ToolCall(id="t", name="search", arguments='{"query": "KEY-4711 and')

    blotted = REDACTION.event(ToolRequested(round=1, call=call, timeout_s=1.0))

    assert blotted.call.arguments == f'{{"query": "{BLOTTED} and'


def test_a_reply_that_says_a_secret_across_two_blocks_is_blotted_in_both() -> None:
    reply = completed(
        {"type": "text", "text": "It is KEY-"},
        {"type": "text", "text": "4711.", "citations": []},
    )

    blotted = REDACTION.event(reply)

    assert blotted.text.text == f"It is {BLOTTED}."
    assert blocks_of(blotted) == [
        {"type": "text", "text": "It is ████"},
        {"type": "text", "text": "████.", "citations": []},
    ]


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


def test_fields_of_a_few_values_only_are_left_alone() -> None:
    event = ReasoningRetried(
        call_id="c", attempt=1, wait_s=0.1, why="timeout", detail="timeout"
    )

    assert Redaction({"the pattern": "timeout"}).event(event) == replace(
        event, detail="███████"
    )


def test_what_one_pattern_left_is_looked_through_by_the_others_until_nothing_matches() -> (
    None
):
    redaction = Redaction({"a": r"\d{4}", "b": r"KEY-\W{4}"})
    failed = ToolFailed(
        tool_call_id="t", name="n", failure="error", detail=f"no {SECRET}"
    )

    once = redaction.event(failed)

    assert once.detail == f"no {BLOTTED}"
    assert redaction.event(once) is once


def test_a_secret_is_blotted_as_it_stands_and_a_short_one_is_not_taken_for_one() -> (
    None
):
    redaction = Redaction(secrets=("a.c+e(g)i", "none"))

    assert redaction.text("none: a.c+e(g)i, abcceegi") == "none: █████████, abcceegi"


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


def test_reasons_and_titles_are_redacted_wherever_they_stand() -> None:
    why = f"the server said {SECRET}"
    substituted = ToolSubstituted(
        tool_call_id="t1", failed="a", substitute="b", arguments="{}", why=why
    )
    found = tool_succeeded("nothing")
    (passage,) = found.passages
    titled = replace(found, passages=(replace(passage, title=SECRET, course=SECRET),))

    (redacted,) = REDACTION.event(titled).passages

    assert SECRET not in REDACTION.event(substituted).why
    assert (redacted.title, redacted.course) == (BLOTTED, BLOTTED)


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
