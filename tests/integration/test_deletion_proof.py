"""A deletion and its proof, which searches every file for what somebody asked and names what it finds elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from antiphon.access.encrypting import encrypt_store
from antiphon.service import delete_with_proof, ids_holding
from antiphon.traces import SqliteTraceStore, files_holding
from antiphon.vocabulary.errors import BadInputError, NotFoundError
from antiphon.vocabulary.events import (
    Event,
    QueryClosed,
    ReasoningCompleted,
    SummaryCompleted,
    ToolRequested,
)
from antiphon.vocabulary.feedback import Feedback
from antiphon.vocabulary.values import Exchange, StoredText, ToolCall, Usage
from tests.integration.test_trace_store_keeping import whole
from tests.story import NOON, placed, query_received, response_assembled

KEY = "0123456789abcdef" * 4
HERS, HIS = "conversation-hers", "conversation-his"


async def filled(folder: Path, key: str | None = None) -> SqliteTraceStore:
    """Two conversations, each with a question, a passage and an answer of its own."""
    store = SqliteTraceStore.open(folder, key=key)
    for name, session_id in (("jane-doe", HERS), ("john-roe", HIS)):
        events = whole(name, session_id=session_id)
        await store.append(f"query-of-{name}", 0, placed(f"query-of-{name}", events))
    return store


@pytest.mark.parametrize("key", [None, KEY])
async def test_a_deleted_conversation_is_nowhere_and_the_other_is_whole(
    key: str | None, tmp_path: Path
) -> None:
    store = await filled(tmp_path, key)
    note = Feedback(rating="down", note="Jane said that it is wrong.", at=NOON)
    await store.annotations.set_feedback("query-of-jane-doe", note)
    await store.annotations.set_title(HERS, "What Jane wanted to know")

    proof = await delete_with_proof(store, tmp_path, ["query-of-jane-doe"], HERS, key)

    assert proof.nothing_is_left
    assert (proof.traces, proof.events) == (1, 4)
    assert proof.searched >= 6
    assert proof.bytes_searched > 0
    assert await store.ids("", 10) == ["query-of-john-roe"]
    with pytest.raises(NotFoundError):
        await store.exchanges(HERS, 1)
    await store.close()


async def test_the_proof_finds_words_in_another_file_and_names_it(
    tmp_path: Path,
) -> None:
    store = await filled(tmp_path)
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "notes.txt").write_text("See wordjane-doe of yesterday.")

    proof = await delete_with_proof(store, tmp_path, ["query-of-jane-doe"], HERS)
    await store.close()

    assert not proof.nothing_is_left
    assert [file for file, _ in proof.still_found] == ["documents/notes.txt"]


SAID = (
    "what was asked today",
    "what was asked before",
    "what was answered before",
    '{"query":"what was looked for"}',
    "what the model wrote",
    "what was summed up of it",
    "what was answered today",
)


def with_words_everywhere() -> list[Event]:
    """A query in which each field for somebody's words holds words of its own."""
    asked, before, answered_before, sought, written, summed_up, answer = SAID
    exchange = Exchange(question=before, answer=answered_before)
    call = ToolCall(id="t1", name="search_course_content", arguments=sought)
    return [
        replace(query_received(asked, HERS), history=(exchange,)),
        ToolRequested(round=1, call=call, timeout_s=1.0),
        ReasoningCompleted(
            call_id="c", round=1, content=(), text=StoredText(written), stop_reason="end_turn",
            usage=Usage(), model="m", message_id="m", tool_calls=(), citations=(),
        ),
        SummaryCompleted(
            call_id="s", for_call="c", content=(), text=StoredText(summed_up), stop_reason="end_turn",
            usage=Usage(), model="m", message_id="m",
        ),
        response_assembled(answer),
        QueryClosed(status="answered"),
    ]  # fmt: skip


@pytest.mark.parametrize("said", SAID)
async def test_the_proof_searches_for_everything_said_in_a_conversation(
    said: str, tmp_path: Path
) -> None:
    store = SqliteTraceStore.open(tmp_path)
    await store.append(
        "query-of-hers", 0, placed("query-of-hers", with_words_everywhere())
    )
    (tmp_path / "notes.txt").write_text(f"Copied by hand: {said}.")

    proof = await delete_with_proof(store, tmp_path, ["query-of-hers"], HERS)
    await store.close()

    assert dict(proof.still_found) == {"notes.txt": 1}
    assert not proof.nothing_is_left


async def test_the_name_of_a_tool_that_another_used_too_is_no_text_of_theirs(
    tmp_path: Path,
) -> None:
    store = SqliteTraceStore.open(tmp_path)
    for name, session_id in (("query-of-hers", HERS), ("query-of-his", HIS)):
        call = ToolCall(id="t1", name="search_course_content", arguments=f'"{name}"')
        searched = ToolRequested(round=1, call=call, timeout_s=1.0)
        question, *rest = whole(name[-4:], session_id=session_id)
        await store.append(name, 0, placed(name, [question, searched, *rest]))

    proof = await delete_with_proof(store, tmp_path, ["query-of-hers"])
    await store.close()

    assert proof.nothing_is_left, proof


@pytest.mark.parametrize("key", [None, KEY])
async def test_a_text_that_anothers_trace_holds_is_found_there(
    key: str | None, tmp_path: Path
) -> None:
    store = await filled(tmp_path, key)
    events = whole("jane-doe", session_id=HIS)
    await store.append("query-of-his", 0, placed("query-of-his", events))

    proof = await delete_with_proof(store, tmp_path, ["query-of-jane-doe"], HERS, key)
    await store.close()

    assert not proof.nothing_is_left
    assert proof.other_traces == ("query-of-his",)


@pytest.mark.parametrize("key", [None, KEY])
async def test_the_proof_finds_a_person_by_words_in_every_place(
    key: str | None, tmp_path: Path
) -> None:
    store = await filled(tmp_path, key)

    note = Feedback(rating="up", note="As the nice lady said.", at=NOON)
    await store.annotations.set_feedback("query-of-jane-doe", note)
    await store.annotations.set_title(HERS, "For grandmother")

    # In the question, the answer, a passage that is stored apart, a note or a title, and the conversation's id.
    for text in (
        "wordjane",
        "answerjane",
        "uniquejane",
        "says something of",
        "nice lady",
        "grandmother",
    ):
        found = await ids_holding(tmp_path, text, key)
        assert "query-of-jane-doe" in found
    assert await ids_holding(tmp_path, HERS, key) == ["query-of-jane-doe"]
    with pytest.raises(NotFoundError):
        await ids_holding(tmp_path, "nobody-of-that-name", key)
    await store.close()


async def test_a_store_is_encrypted_unless_it_is_in_use(
    tmp_path: Path,
) -> None:
    store = await filled(tmp_path)
    with pytest.raises(BadInputError, match="in use"):
        encrypt_store(tmp_path, KEY)
    await store.close()

    encrypt_store(tmp_path, KEY)

    again = SqliteTraceStore.open(tmp_path, key=KEY)
    assert len(await again.ids("", 10)) == 2
    await again.close()
    assert files_holding(tmp_path, ["wordjane"]) == {}
