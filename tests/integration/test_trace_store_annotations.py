"""Feedback on answers and the list of conversations, as every store that outlives a process keeps them."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from antiphon.vocabulary.errors import NotFoundError
from antiphon.vocabulary.feedback import Feedback
from antiphon.vocabulary.ports import TraceFilter, TraceStore, WholeTraceStore
from tests.story import NOON, answered, placed, query_received
from tests.trace_stores import kind, nats_url, opened, store

__all__ = ["kind", "nats_url", "store"]

GOOD = Feedback(rating="up", at=NOON)
BAD = Feedback(rating="down", note="It names the wrong lesson.", at=NOON + 1)


async def ask(
    store: TraceStore, number: int, session_id: str, question: str, parent: str = ""
) -> str:
    """Stores an answered query, one a minute."""
    query_id = f"q{number}"
    first, *rest = answered(question, f"Answer {number}.")
    asked = replace(first, session_id=session_id, parent=parent or None)
    events = placed(query_id, [asked, *rest], at=NOON + 60 * number)
    await store.append(query_id, 0, events)
    return query_id


async def found(store: TraceStore, feedback: str) -> list[str]:
    lines = await store.list(where=TraceFilter(feedback=feedback))
    return [line.query_id for line in lines]


async def chats(store: TraceStore, text: str | None = None) -> list[tuple[str, str]]:
    lines = await store.conversations(50, text=text)
    return [(line.session_id, line.title) for line in lines]


async def test_feedback_is_listed_filtered_changed_and_withdrawn(
    store: WholeTraceStore,
) -> None:
    for number in range(4):
        await ask(store, number, "s1", "What is recall?")
    await store.annotations.set_feedback("q1", GOOD)
    await store.annotations.set_feedback("q2", GOOD)

    await store.annotations.set_feedback("q2", BAD)

    assert await store.annotations.feedback("q2") == BAD
    assert await store.annotations.feedback("q3") is None
    assert [line.feedback for line in await store.list()] == [None, BAD, GOOD, None]
    for wanted, ids in (
        ("up", ["q1"]),
        ("down", ["q2"]),
        ("any", ["q2", "q1"]),
        ("none", ["q3", "q0"]),
    ):
        assert await found(store, wanted) == ids
    await store.annotations.set_feedback("q2", None)
    await store.annotations.set_feedback("q3", None)
    assert await store.annotations.feedback("q2") is None
    assert await found(store, "any") == ["q1"]


async def test_feedback_and_titles_are_the_tenants_own(store: WholeTraceStore) -> None:
    ours, theirs = store.seen_by("ours"), store.seen_by("theirs")
    await ask(ours, 1, "s1", "What is recall?")
    await ours.annotations.set_feedback("q1", BAD)

    for query_id in ("q1", "nowhere"):
        with pytest.raises(NotFoundError):
            await theirs.annotations.feedback(query_id)
        with pytest.raises(NotFoundError):
            await theirs.annotations.set_feedback(query_id, None)
    for session_id in ("s1", "nowhere"):
        with pytest.raises(NotFoundError):
            await theirs.annotations.set_title(session_id, "Mine")
        with pytest.raises(NotFoundError):
            await theirs.answered(session_id, ["q1"])

    assert await ours.annotations.feedback("q1") == BAD
    assert (await chats(theirs), await chats(theirs, "recall")) == ([], [])
    assert await chats(ours) == await chats(store) == [("s1", "What is recall?")]


async def test_feedback_and_title_go_with_the_last_trace_and_do_not_come_back(
    kind: str, tmp_path: Path, nats_url: str
) -> None:
    words = "Frau Zwiesel from Gera said so"
    async with opened(kind, tmp_path / "a", nats_url, prefix="gone") as store:
        await ask(store, 1, "s1", "What is recall?")
        await ask(store, 2, "s1", "And precision?")
        await store.annotations.set_title("s1", words)
        await store.annotations.set_feedback("q2", replace(BAD, note=words))

        await store.delete(["q1"])
        assert await chats(store) == [("s1", words)]
        await store.delete(["q2"])
        await ask(store, 2, "s1", "What is precision?")

        assert await store.annotations.feedback("q2") is None
        assert [line.feedback for line in await store.list()] == [None]
        assert await chats(store) == [("s1", "What is precision?")]
        await store.annotations.set_title("s1", words)
        await store.delete_conversation("s1")
        assert await chats(store) == []
    # What another process, or another node, finds.
    async with opened(kind, tmp_path / "a", nats_url, prefix="gone") as store:
        await ask(store, 3, "s1", "What is left?")
        assert await chats(store) == [("s1", "What is left?")]
    held = [
        path.name for path in (tmp_path / "a").rglob("*") if b"Zwiesel" in read(path)
    ]
    assert held == []


def read(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""


async def test_conversations_are_listed_by_their_last_question_a_page_at_a_time(
    store: WholeTraceStore,
) -> None:
    for number, session_id in enumerate(["a", "b", "c", "a", "b", "a"]):
        await ask(store, number, session_id, f"Question {number}?")
    await ask(store, 6, "c", "Question 2?", parent="q2")

    first = await store.conversations(2)
    rest = await store.conversations(2, after_id=first[-1].last_query_id)

    listed = [
        (line.session_id, line.title, line.exchanges, line.started_at, line.last_at)
        for line in (*first, *rest)
    ]
    second = NOON + 1
    assert listed == [
        ("a", "Question 0?", 3, second, second + 300),
        ("b", "Question 1?", 2, second + 60, second + 240),
        ("c", "Question 2?", 1, second + 120, second + 120),
    ]
    assert await store.conversations(2, after_id=rest[-1].last_query_id) == []


async def test_a_conversation_that_was_cleared_is_listed_by_what_was_asked_since(
    store: WholeTraceStore,
) -> None:
    await ask(store, 1, "s1", "What is recall?")
    await store.clear_conversation("s1")
    assert await chats(store) == []

    await ask(store, 2, "s1", "What is precision?")

    assert await chats(store) == [("s1", "What is precision?")]
    answers = await store.answered("s1", ["q1", "q2"])
    assert [each.query_id for each in answers] == ["q2"]


@pytest.mark.parametrize(
    ("text", "sessions"),
    [
        ("recall", ["s3", "s1"]),
        ("RECALL what?", ["s3", "s1"]),
        ("reca", ["s3", "s1"]),
        ("über", ["s2"]),
        ("FALK", ["s2"]),
        ("falken?", ["s2"]),
        ("answer", []),
        ('"recall" *', ["s3", "s1"]),
        ("what is", ["s3", "s1"]),
        ("NOT recall", []),
        (" \x00 ", []),
        ("", []),
    ],
)
async def test_conversations_are_found_by_words_of_a_question_or_of_the_title(
    store: WholeTraceStore, text: str, sessions: list[str]
) -> None:
    await ask(store, 1, "s1", "What is recall?")
    await ask(store, 2, "s2", "Who flies?")
    await store.annotations.set_title("s2", "Über Falken")
    under_way = replace(query_received(), query="What is the recall?", session_id="s3")
    await store.append("q3", 0, placed("q3", [under_way], at=NOON + 600))

    assert [session_id for session_id, _ in await chats(store, text)] == sessions


async def test_a_list_says_what_each_answer_took_and_how_it_begins(
    store: WholeTraceStore,
) -> None:
    await ask(store, 1, "s1", "What is recall?")

    (line,) = await store.list()

    assert (line.answer, line.rounds) == ("Answer 1.", 1)
    assert (line.input_tokens, line.output_tokens, line.cost_usd) == (0, 0, None)


async def test_a_node_knows_what_another_notes_and_forgets_it_when_the_trace_is_deleted(
    tmp_path: Path, nats_url: str
) -> None:
    async with (
        opened("jetstream", tmp_path / "a", nats_url, prefix="two") as one,
        opened("jetstream", tmp_path / "b", nats_url, prefix="two") as other,
    ):
        await ask(one, 1, "s1", "What is recall?")
        await one.annotations.set_feedback("q1", GOOD)
        await one.annotations.set_title("s1", "Recall")
        assert await chats(other) == [("s1", "Recall")]
        assert await found(other, "up") == ["q1"]

        await other.annotations.set_feedback("q1", BAD)
        await other.annotations.set_title("s1", "Shares")

        assert await chats(one) == [("s1", "Shares")]
        assert (await found(one, "up"), await found(one, "down")) == ([], ["q1"])
        assert await one.annotations.feedback("q1") == BAD
        await one.annotations.set_feedback("q1", None)
        assert await found(other, "any") == []
        await one.annotations.set_feedback("q1", GOOD)
        assert await found(other, "any") == ["q1"]
        await other.delete(["q1"])
        assert await chats(one) == []
        await ask(one, 1, "s1", "What is new?")
        assert await found(other, "any") == await found(one, "any") == []
        assert await chats(other) == await chats(one) == [("s1", "What is new?")]
