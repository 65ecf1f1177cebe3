"""A secret in a question, a passage, a tool's words or a reply reaches neither the store nor the model."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from antiphon.dispatcher import quotable
from antiphon.service import Change, Question, replay
from antiphon.traces import Redaction, SqliteTraceStore, trace_file
from antiphon.vocabulary.events import QueryReceived, ToolFailed, ToolSucceeded
from antiphon.vocabulary.ports import ToolOutput
from antiphon.vocabulary.values import Passage, StoredText
from tests.small_service import House, house
from tests.story import answered, placed

ASKED, FOUND, RAISED, REPLIED = "pw:asked01", "pw:found02", "pw:raised3", "pw:reply04"
SECRETS = (ASKED, FOUND, RAISED, REPLIED)
API_KEY = "sk-ant-api03-not-a-real-key"
SCRIPT = {
    "replies": [
        {
            "text": f"I look for {REPLIED}.",
            "calls": [
                {"name": "look", "input": {"what": f"ranking {REPLIED}"}},
                {"name": "stumble", "input": {"what": "ranking"}},
            ],
        },
        {"text": f"Ranking weighs terms. The secret is {REPLIED}.", "delta_chars": 3},
    ]
}


async def look(what: str) -> ToolOutput:
    """Finds a passage.

    Args:
        what: What to look for.
    """
    passage = quotable(
        "Course - Lesson 1",
        f"Ranking weighs terms. Its secret is {FOUND}. It says no more.",
    )
    return ToolOutput(text=f"found {FOUND}", passages=(passage,))


async def stumble(what: str) -> str:
    """Fails.

    Args:
        what: What to look for.
    """
    raise RuntimeError(f"no access with {RAISED}")


async def search(what: str) -> ToolOutput:
    """Finds two chunks of a lesson that touch, which the synthesizer joins into one text of its own.

    Args:
        what: What to look for.
    """
    chunks: list[Passage] = []
    for number in range(2):
        text = f"Ranking weighs rare words in step {number}, as lesson 1 of the course says about {what}. "
        chunk = Passage(
            id=f"chunk-{number}",
            source="Course - Lesson 1",
            text=StoredText(text),
            course="Course",
            lesson=1,
            start=number * len(text),
        )
        chunks.append(chunk)
    return ToolOutput(text="found", passages=tuple(chunks))


def at_home(
    folder: Path, redaction: Redaction, script: object = SCRIPT
) -> AbstractAsyncContextManager[House]:
    """The service whose tools know secrets."""
    return house(folder, script, look, stumble, redaction=redaction, api_key=API_KEY)


def redaction() -> Redaction:
    return Redaction({"the pattern": r"pw:\w{7}"}, [API_KEY])


async def test_no_byte_of_a_secret_is_stored_exported_or_sent_to_the_model(
    tmp_path: Path,
) -> None:
    async with at_home(tmp_path, redaction()) as at:
        outcome = await at.service.ask(
            Question(query=f"What weighs terms? My password is {ASKED}.")
        )
        trace = await at.trace(outcome)
        while_open, exported = at.stored(), trace_file(trace)

    for secret in SECRETS:
        assert secret.encode() not in while_open
        assert secret.encode() not in at.stored()
        assert secret.encode() not in exported
        assert secret not in outcome.response.answer
    assert all(secret not in at.sent() for secret in (ASKED, FOUND, RAISED))
    assert "██████████" in outcome.response.answer
    events = [said.event for said in trace]
    assert any(
        isinstance(event, ToolSucceeded) and "██████████" in event.output.text
        for event in events
    )
    assert any(
        isinstance(event, ToolFailed) and "██████████" in event.detail
        for event in events
    )


async def test_without_a_pattern_the_same_run_stores_all_of_them(
    tmp_path: Path,
) -> None:
    async with at_home(tmp_path, Redaction()) as at:
        await at.service.ask(
            Question(query=f"What weighs terms? My password is {ASKED}.")
        )

        assert all(secret.encode() in at.stored() for secret in SECRETS)


async def test_a_redacted_trace_replays_to_the_same_events_without_knowing_the_patterns(
    tmp_path: Path,
) -> None:
    async with at_home(tmp_path, redaction()) as at:
        first = await at.service.ask(
            Question(query=f"What weighs terms? My password is {ASKED}.")
        )
        second = await at.service.ask(
            Question(query=f"And {ASKED}?", session_id=first.session_id)
        )

        for outcome in (first, second):
            replayed = replay(await at.trace(outcome))
            assert replayed.divergence is None
            assert replayed.closed
        received = (await at.trace(second))[0].event
        assert isinstance(received, QueryReceived)
        assert (
            received.history[0].question
            == "What weighs terms? My password is ██████████."
        )


async def test_the_same_question_three_times_replays_the_same_beside_a_real_key(
    tmp_path: Path,
) -> None:
    key = f"sk-ant-api03-{'x9_Qf' * 19}-AA"
    asking = {"calls": [{"name": "search", "input": {"what": "ranking"}}]}
    script = {"replies": [asking, {"text": "Ranking weighs rare words."}] * 3}
    async with house(
        tmp_path, script, search, redaction=Redaction({}, [key]), api_key=key
    ) as at:
        ids: list[list[str]] = []
        for _ in range(3):
            outcome = await at.service.ask(Question(query="What weighs terms?"))
            trace = await at.trace(outcome)
            for recorded in trace:
                if isinstance(recorded.event, ToolSucceeded):
                    ids.append([passage.id for passage in recorded.event.passages])

            assert replay(trace).divergence is None

    assert ids == [["chunk-0", "chunk-1"]] * 3


async def test_a_secret_in_the_change_of_a_fork_is_redacted_too(tmp_path: Path) -> None:
    async with at_home(tmp_path, redaction()) as at:
        outcome = await at.service.ask(Question(query="What weighs terms?"))
        (call,) = [
            said.event.tool_call_id
            for said in await at.trace(outcome)
            if isinstance(said.event, ToolSucceeded)
        ]

        given = Change(
            kind="tool", name=call, value="Ranking weighs terms by pw:given05."
        )
        forked = await at.service.history.fork(
            outcome.query_id, None, [given], "recorded"
        )
        fork = await forked.outcome()

        assert b"pw:given05" not in at.stored()
        assert replay(await at.trace(fork)).divergence is None


async def test_an_imported_trace_is_redacted_on_its_way_in(tmp_path: Path) -> None:
    store = SqliteTraceStore.open(tmp_path, redaction=redaction())

    await store.add(placed("q1", answered(f"What is {ASKED}?", f"It is {ASKED}.")))

    (line,) = await store.list()
    assert line.query == "What is ██████████?"
    await store.close()
    assert ASKED.encode() not in (tmp_path / "traces.sqlite").read_bytes()


async def test_a_key_that_a_server_echoes_is_in_no_trace(tmp_path: Path) -> None:
    echoing = {
        "replies": [
            {
                "status": 401,
                "error": "authentication_error",
                "message": f"invalid x-api-key: {API_KEY}",
            },
            {"text": f"You sent {API_KEY}.", "times": 9},
        ]
    }
    async with at_home(tmp_path, Redaction({}, [API_KEY]), echoing) as at:
        failed = await at.service.ask(Question(query="What weighs terms?"))
        echoed = await at.service.ask(Question(query="What weighs terms?"))

        assert API_KEY.encode() not in at.stored()
        assert failed.status in ("answered", "partial")
        assert API_KEY not in echoed.response.answer


@pytest.mark.parametrize("concurrent", [20])
async def test_each_of_several_queries_at_once_is_redacted(
    tmp_path: Path, concurrent: int
) -> None:
    offline = {
        "replies": [{"text": f"Ranking weighs terms, says {REPLIED}.", "times": 99}]
    }
    async with at_home(tmp_path, redaction(), offline) as at:
        questions = [
            Question(query=f"What weighs terms, {ASKED}? ({number})")
            for number in range(concurrent)
        ]
        outcomes = await asyncio.gather(*map(at.service.ask, questions))

        assert len({outcome.query_id for outcome in outcomes}) == concurrent
        assert not any(secret.encode() in at.stored() for secret in SECRETS)
