"""Forks on the command line: beneath their parents in the list, and what the model was shown as text."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from antiphon.cli.trace_prompts import show_prompt
from antiphon.cli.trace_views import briefing, moved, show_diff
from antiphon.cli.traces import in_families, show
from antiphon.engine import ScriptedReply
from antiphon.service import diff
from antiphon.traces import SqliteTraceStore
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.events import Event, QueryReceived, Recorded
from antiphon.vocabulary.ports import TraceSummary
from antiphon.vocabulary.values import Exchange
from tests.story import answered, placed
from tests.traces.test_recorded_forks import asked, calls


def row(query_id: str, parent: str | None = None) -> TraceSummary:
    return TraceSummary(
        query_id=query_id,
        session_id="s",
        query="?",
        status="answered",
        started_at=1.0,
        duration_ms=1.0,
        events=1,
        parent=parent,
    )


@pytest.mark.parametrize(
    ("rows", "shown"),
    [
        (
            [row("f2", "q1"), row("q2"), row("f1", "q1"), row("q1")],
            [("q2", 0), ("q1", 0), ("f2", 1), ("f1", 1)],
        ),
        (
            [row("f2", "f1"), row("f1", "q1"), row("q1")],
            [("q1", 0), ("f1", 1), ("f2", 2)],
        ),
        ([row("f1", "gone"), row("q1")], [("f1", 0), ("q1", 0)]),
        ([row("a", "b"), row("b", "a"), row("c", "c")], [("c", 0), ("b", 0), ("a", 0)]),
    ],
)
def test_a_fork_is_listed_beneath_its_parent_and_none_is_lost(
    rows: Sequence[TraceSummary], shown: list[tuple[str, int]]
) -> None:
    found = [(each.query_id, depth) for each, depth in in_families(rows)]

    assert sorted(found) == sorted(shown)
    if rows[0].query_id != "a":
        assert found == shown


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("One. Two.", "The answer did not move."),
        ("One. Three.", "The answer moved: 1 of 2 sentences went, 1 came."),
        ("One.", "The answer moved: 1 of 2 sentences went, 0 came."),
    ],
)
def test_a_sentence_says_whether_the_answer_moved(answer: str, told: str) -> None:
    left, right = (
        placed("q1", answered("What?", text)) for text in ("One. Two.", answer)
    )

    assert moved(diff(left, right)) == told


def test_the_text_of_a_long_request_differs_by_its_words(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = " ".join(f"w{number}" for number in range(200))
    left = placed("q1", answered(f"What {words} now?", "One."))
    right = placed("q2", answered(f"What {words} then?", "One."))

    show_diff(diff(left, right))

    printed = capsys.readouterr().out
    assert "Because of another question or conversation: 1 query_received" in printed
    assert "[-now?-] {+then?+}" in printed


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder with one trace, `q`, in a conversation; its tool tried to steer the terminal."""

    async def fill() -> None:
        trace = await asked(calls("\x1b[31mred"), ScriptedReply(text="By rules."))
        store = SqliteTraceStore.open(tmp_path)
        await store.append("q", 0, in_a_conversation(trace))
        await store.close()

    asyncio.run(fill())
    return tmp_path


def in_a_conversation(trace: list[Recorded[Event]]) -> list[Recorded[Event]]:
    first = trace[0].event
    assert isinstance(first, QueryReceived)
    before = Exchange(question="What came before?", answer="This came \x1b[2J before.")
    return [replace(trace[0], event=replace(first, history=(before,))), *trace[1:]]


def test_the_prompt_of_each_call_is_shown_as_text_with_its_reply(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    show_prompt("q", data_dir=folder)

    printed = capsys.readouterr().out
    for words in (
        "call-1: shown to claude",
        "[1 tool offered: look_up]",
        "How do logs grow?",
        "[calls look_up",
        "[source: look_up",
        "logs grow by rule 1.",
        "call-2: replied (end_turn)",
        "By rules.",
        "[the system prompt as before]",
    ):
        assert words in printed
    assert "\x1b[31m" not in printed


def test_one_call_is_shown_where_it_is_named_and_a_missing_one_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    show_prompt("q", call="call-2", data_dir=folder)

    assert "call-1" not in capsys.readouterr().out
    with pytest.raises(BadInputError, match="does not hold 'call-9'"):
        show_prompt("q", call="call-9", data_dir=folder)


@pytest.mark.parametrize("command", [show, briefing])
def test_the_conversation_and_the_text_of_what_was_shown_can_be_seen(
    command: object, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command("q", data_dir=folder)  # type: ignore[operator]  # a command is a function

    printed = capsys.readouterr().out
    assert "What came before?" in printed
    assert "This came before." in printed
    assert "logs grow by rule 1." in printed
    assert "\x1b" not in printed
