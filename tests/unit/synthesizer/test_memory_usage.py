"""Tool usage and reasoning: what a later call is told of what went before."""

from __future__ import annotations

import pytest

from antiphon.language.markup import read_attempts, unwrap
from antiphon.synthesizer import memory_at
from antiphon.vocabulary.events import (
    RULES,
    BreakerTripped,
    Event,
    Recorded,
    ToolFailed,
    ToolStarted,
    ToolSubstituted,
)
from tests.unit.synthesizer.stories import (
    Told,
    asked,
    call,
    found,
    notes,
    opened,
    passage,
    replied,
    requested,
    round_of,
    settled,
)

LOG = passage("A log is only appended to.")
REPEATED = BreakerTripped(
    limit="repeated_call", detail="already called", tool_call_id="b"
)


def test_an_attempt_tells_its_arguments_its_outcome_and_the_numbers_of_its_sources() -> (
    None
):
    story = Told(
        asked(),
        *round_of(found("a", LOG), found("b", LOG, passage("Offsets are numbers."))),
    )

    story.tell(opened(2, left=0))

    first, second = read_attempts(notes(story.briefing))
    assert (first.tool, first.arguments, first.outcome, first.facts) == (
        "search_course_content",
        {"query": "a"},
        "found",
        (1,),
    )
    assert second.facts == (1, 2)


def test_a_tool_that_found_nothing_is_told_with_its_own_words() -> None:
    story = Told(
        asked(),
        *round_of(
            found("a", output="No course is called 'Loggs'; the nearest is 'Logs'.")
        ),
    )

    story.tell(opened(2))

    (attempt,) = read_attempts(notes(story.briefing))
    assert attempt.outcome == "nothing"
    assert attempt.detail == "No course is called 'Loggs'; the nearest is 'Logs'."


def test_a_failed_and_a_substituted_call_say_what_happened() -> None:
    story = Told(
        asked(),
        *requested(call("a"), call("b")),
        ToolStarted(tool_call_id="a", name="search_course_content"),
    )

    story.tell(
        ToolSubstituted(
            tool_call_id="a",
            failed="search_course_content",
            substitute="keyword_search",
            arguments="{}",
            why="timeout",
        ),
        found("a", LOG),
        ToolFailed(
            tool_call_id="b",
            name="search_course_content",
            failure="timeout",
            detail="took over 5 s",
        ),
        settled("a", failed=("b",)),
        opened(2),
    )

    replaced, failed = read_attempts(notes(story.briefing))
    assert (replaced.outcome, replaced.detail) == (
        "found",
        "answered by keyword_search",
    )
    assert (failed.outcome, failed.detail) == ("failed", "took over 5 s")


def test_a_repeated_call_is_told_as_such_with_the_sources_that_it_had_brought() -> None:
    story = Told(asked(), *round_of(found("a", LOG)))

    story.tell(
        replied(call("b", '{"why": "again", "query": "a"}'), round_=2),
        REPEATED,
        opened(3, final=True),
    )

    attempts = read_attempts(notes(story.briefing))
    assert [(attempt.outcome, attempt.facts) for attempt in attempts] == [
        ("found", (1,)),
        ("repeated", (1,)),
    ]


def test_a_repetition_refused_while_the_reply_still_streams_is_told_once_the_reply_is_complete() -> (
    None
):
    story = Told(asked(), *round_of(found("a", LOG)))

    story.tell(
        REPEATED, replied(call("b", '{"query": "a"}'), round_=2), opened(3, final=True)
    )

    assert [attempt.outcome for attempt in read_attempts(notes(story.briefing))] == [
        "found",
        "repeated",
    ]


def test_what_the_model_said_between_tool_calls_is_kept_and_older_words_shrink() -> (
    None
):
    story = Told(
        asked(),
        replied(call("a"), text="First I look at logs. " * 20),
        *requested(call("a")),
    )

    story.tell(
        found("a", LOG),
        settled("a"),
        replied(call("b"), text="Now I look at offsets.", round_=2),
        opened(3),
    )

    said = unwrap("reasoning", notes(story.briefing)) or ""
    first, second = said.split("\n")
    assert first.startswith("Round 1: First I look at logs.")
    assert len(first) < 200
    assert second == "Round 2: Now I look at offsets."


@pytest.mark.parametrize(
    ("rules", "line"),
    [
        (RULES, "Round 1: I look for logs first. Both sides are needed."),
        (1, "Round 1: I look for logs first."),
    ],
)
def test_a_thought_between_tool_calls_stands_in_the_reasoning_save_in_an_old_trace(
    rules: int, line: str
) -> None:
    reply = replied(
        call("a"), text="I look for logs first.", thought="Both sides are needed."
    )
    story = Told(
        asked(rules=rules), reply, *requested(call("a")), found("a"), settled("a")
    )

    story.tell(opened(2))

    assert unwrap("reasoning", notes(story.briefing)) == line


def test_a_thought_without_words_is_a_note_too_and_shrinks_as_words_do() -> None:
    story = Told(
        asked(),
        replied(call("a"), thought="First I think of logs. " * 40),
        replied(call("b"), thought="Now I think of offsets. " * 40, round_=2),
        opened(3),
    )

    said = unwrap("reasoning", notes(story.briefing)) or ""

    first, second = said.split("\n")
    assert first.startswith("Round 1: First I think of logs. ")
    assert len(first) < 200
    assert second.startswith("Round 2: Now I think of offsets. ")
    assert 500 < len(second) < 620


def test_the_answer_itself_is_no_note_nor_is_what_was_thought_before_it() -> None:
    answer = replied(text="A log is a file.", thought="The first passage says so.")
    story = Told(asked(), answer, opened(2))

    assert unwrap("reasoning", notes(story.briefing)) is None


def test_arguments_that_cannot_be_read_or_never_end_do_not_get_into_the_way() -> None:
    calls = (
        call("a", "not json"),
        call("b", '{"query": "' + "x" * 100_000 + '"}'),
        call("c", "[" * 50_000),
    )
    story = Told(asked(), *requested(*calls), settled(failed=("a", "b", "c")))

    story.tell(opened(2))

    attempts = read_attempts(notes(story.briefing))
    assert len(attempts) == 3
    assert len(notes(story.briefing)) < 2_000


def test_an_attempt_keeps_how_long_it_took() -> None:
    failed = ToolFailed(
        tool_call_id="b", name="search", failure="error", detail="away", duration_ms=7.0
    )
    story = Told(
        asked(),
        replied(call("a"), call("b")),
        *requested(call("a"), call("b")),
        found("a", LOG),
        failed,
    )

    story.tell(settled("a", failed=("b",)))

    assert [
        tried.attempt.duration_ms
        for tried in story.synthesizer.state.memory.usage.settled
    ] == [1.0, 7.0]


def test_the_memory_shows_at_each_event_what_has_become_of_a_call() -> None:
    events: list[Event] = [
        asked(),
        *requested(call("a"), call("b")),
        ToolStarted(tool_call_id="a", name="search_course_content"),
        found("a", LOG),
        found("b", output="Nothing is called so."),
    ]
    trace = [
        Recorded(query_id="q", seq=seq, cause=0, at=0.0, event=event)
        for seq, event in enumerate(events, start=1)
    ]

    shown = [
        [attempt.outcome for attempt in memory_at(trace, seq).attempts]
        for seq in range(2, len(trace) + 1)
    ]

    assert shown == [
        ["requested"],
        ["requested", "requested"],
        ["running", "requested"],
        ["found", "requested"],
        ["found", "nothing"],
    ]
