"""A fork runs a query again from one of its events on, with one thing changed; the original stays as it is."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
import pytest_asyncio
import structlog
from msgspec.structs import replace

from antiphon.faults import Injector
from antiphon.faults.plan import Fault
from antiphon.service import Change, History, Mode, diff, replay
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.events import (
    BriefingPrepared,
    Event,
    QueryReceived,
    ReasoningCompleted,
    Recorded,
    ResponseAssembled,
    ToolSucceeded,
)
from tests.stored_rows import part_rows
from tests.traces.stage import Stage


@pytest_asyncio.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    made = Stage(tmp_path)
    yield made
    await made.store.close()


async def fork(
    stage: Stage, changes: list[Change], mode: str = "recorded", at: int | None = None
) -> list[Recorded[Event]]:
    running = await stage.history.fork("q1", at, changes, mode)  # type: ignore[arg-type]  # a test's word
    await running.outcome()
    return list(await stage.store.read(running.query_id))


def answer(events: list[Recorded[Event]]) -> ResponseAssembled:
    return next(
        said.event
        for said in reversed(events)
        if isinstance(said.event, ResponseAssembled)
    )


async def test_a_recorded_fork_asks_for_nothing_that_was_recorded(stage: Stage) -> None:
    before = list(await stage.ask())
    stage.calls()

    forked = await fork(stage, [], at=2)

    assert stage.calls() == []
    assert answer(forked).answer == answer(before).answer
    assert list(await stage.store.read("q1")) == before
    first = forked[0].event
    assert isinstance(first, QueryReceived)
    assert (first.parent, first.parent_seq) == ("q1", 2)
    assert replay(forked).divergence is None


async def test_a_fork_with_the_model_live_asks_only_the_model(stage: Stage) -> None:
    await stage.ask()
    stage.calls()

    await fork(stage, [], mode="remodel", at=2)

    assert [call.split()[0] for call in stage.calls()] == ["model", "model", "model"]


async def test_a_live_fork_asks_everybody(stage: Stage) -> None:
    await stage.ask()
    calls = sorted(stage.calls())

    await fork(stage, [], mode="live", at=2)

    assert sorted(stage.calls()) == calls


async def test_a_fork_that_another_reasoner_answers_says_so(stage: Stage) -> None:
    await stage.ask("q1", reasoner="claude")
    await stage.ask("q2")

    forks = [await stage.history.fork(id_, 2, [], "live") for id_ in ("q1", "q2")]
    doubts = [
        [doubt.kind for doubt in (await each.outcome()).response.indicators]
        for each in forks
    ]

    assert ["another_reasoner" in kinds for kinds in doubts] == [True, False]


async def test_a_fork_adds_nothing_to_the_conversation_of_its_parent(
    stage: Stage,
) -> None:
    before = list(await stage.ask())
    reply = next(
        said.seq for said in before if isinstance(said.event, ReasoningCompleted)
    )
    said_before = await stage.store.exchanges("s1", 2)

    await fork(
        stage, [Change(kind="reply", value="What if it ranked by length?")], at=reply
    )

    assert len(said_before) == 1
    assert await stage.store.exchanges("s1", 2) == said_before


async def test_a_changed_setting_changes_the_query_from_its_beginning(
    stage: Stage,
) -> None:
    before = list(await stage.ask())

    forked = await fork(
        stage, [Change(kind="setting", name="max_rounds", value="1")], mode="remodel"
    )

    assert (answer(before).rounds, answer(forked).rounds) == (2, 1)
    first = diff(before, forked).differences[0]
    assert (first.kind, first.because, first.field) == (
        "query_received",
        "settings",
        "settings.max_rounds",
    )


async def test_a_given_reply_takes_the_place_of_the_recorded_one(stage: Stage) -> None:
    before = list(await stage.ask())
    reply = next(
        said.seq for said in before if isinstance(said.event, ReasoningCompleted)
    )

    forked = await fork(
        stage, [Change(kind="reply", value="It ranks by rarity.")], at=reply
    )

    assert answer(forked).answer == "It ranks by rarity."


@pytest.mark.parametrize("named_by", ["its id", "an event"])
async def test_a_given_tool_result_reaches_the_next_call(
    stage: Stage, named_by: str
) -> None:
    before = list(await stage.ask())
    result = next(said for said in before if isinstance(said.event, ToolSucceeded))
    assert isinstance(result.event, ToolSucceeded)

    name = result.event.tool_call_id if named_by == "its id" else str(result.cause)

    forked = await fork(stage, [Change(kind="tool", name=name, value="Nobody knows.")])

    asked = [
        said.event for said in forked if isinstance(said.event, ReasoningCompleted)
    ]
    assert len(asked) == 3
    assert diff(before, forked).differences[0].because == "tool"


async def test_a_sentence_that_a_briefing_left_out_is_shown_to_its_call(
    stage: Stage,
) -> None:
    before = list(await stage.ask())
    [*_, (seq, briefing)] = [
        (said.seq, said.event)
        for said in before
        if isinstance(said.event, BriefingPrepared) and said.event.sources
    ]
    source = briefing.sources[0]
    text = briefing.messages[0].content
    # The request holds this source whole already, so showing one of its sentences must add nothing.
    change = Change(kind="show", name=source.fact_id, value=str([source.sentences[0]]))

    forked = await fork(stage, [change], "remodel", at=seq)

    shown = forked[seq - 1].event
    assert isinstance(shown, BriefingPrepared)
    assert shown.messages[0].content == text
    first = forked[0].event
    assert isinstance(first, QueryReceived)
    assert first.change == f"show {source.fact_id} = [{source.sentences[0]}]"


@pytest.mark.parametrize(
    "change",
    [
        Change(kind="show", name="f99", value="[0]"),
        Change(kind="show", name="f1", value="[99]"),
        Change(kind="show", name="f1", value='"all"'),
    ],
)
async def test_a_fork_can_show_only_sentences_of_facts(
    stage: Stage, change: Change
) -> None:
    before = list(await stage.ask())
    seqs = [said.seq for said in before if isinstance(said.event, BriefingPrepared)]

    with pytest.raises(BadInputError):
        await fork(stage, [change], "remodel", at=seqs[-1])


async def test_no_tool_finds_a_dropped_passage(stage: Stage) -> None:
    before = list(await stage.ask())

    forked = await fork(stage, [Change(kind="drop", name="f1")])

    found = [
        p.id
        for said in before
        if isinstance(said.event, ToolSucceeded)
        for p in said.event.passages
    ]
    left = [
        p.id
        for said in forked
        if isinstance(said.event, ToolSucceeded)
        for p in said.event.passages
    ]
    assert len(set(found) - set(left)) == 1


@pytest.mark.parametrize(
    ("change", "at", "wrong"),
    [
        (
            Change(kind="set", name="round", value="one"),
            2,
            "`round` of round_opened cannot be 'one'",
        ),
        (
            Change(kind="set", name="nothing", value="1"),
            2,
            "round_opened has no field 'nothing'",
        ),
        (Change(kind="set", name="round", value="1"), 999, "There is no event 999"),
        (Change(kind="set", name="round", value="1"), None, "say which with --at"),
        (Change(kind="reply", value="x"), 2, "does not fit round_opened"),
        (
            Change(kind="tool", name="nobody", value="x"),
            None,
            "Nothing in the trace is called 'nobody'",
        ),
        *[
            (
                Change(kind="tool", name=seq, value="x"),
                None,
                f"No event {seq} of the trace is about a tool call",
            )
            for seq in ("2", "0", "999")
        ],
    ],
)
async def test_a_change_that_fits_nowhere_is_refused(
    stage: Stage, change: Change, at: int | None, wrong: str
) -> None:
    await stage.ask()

    with pytest.raises(BadInputError, match=wrong):
        await fork(stage, [change], at=at)

    assert len(await stage.store.list()) == 1


async def test_a_fork_of_a_trace_that_lacks_newer_fields_replays(stage: Stage) -> None:
    before = await stage.ask()
    with closing(sqlite3.connect(stage.folder / "traces.sqlite")) as database, database:
        part_rows(database)
        asked = database.execute(
            "SELECT seq, body FROM events WHERE kind = 'reasoning_requested'"
        ).fetchall()
        assert asked
        for seq, body in asked:
            older = json.loads(body)
            assert older.pop("elapsed_s") >= 0.0
            database.execute(
                "UPDATE events SET body = ? WHERE seq = ?",
                (json.dumps(older).encode(), seq),
            )

    forked = await fork(stage, [], at=len(before) - 3)

    assert replay(forked).divergence is None


async def test_a_fork_with_an_empty_question_is_refused(stage: Stage) -> None:
    await stage.ask()

    with pytest.raises(BadInputError, match="The question is empty"):
        await fork(stage, [Change(kind="set", name="query", value=" ")], at=1)


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("query", "1987", "1987"),
        ("query", '"quoted"', "quoted"),
        ("query", "What is 1987?", "What is 1987?"),
        ("query", "true", "true"),
        ("settings.final_model", "null", None),
        ("settings.max_rounds", "1", 1),
    ],
)
async def test_a_value_is_json_if_that_fits_and_text_otherwise(
    stage: Stage, name: str, value: str, found: object
) -> None:
    await stage.ask()

    forked = await fork(
        stage, [Change(kind="set", name=name, value=value)], mode="remodel", at=1
    )

    held: object = forked[0].event
    for part in name.split("."):
        held = getattr(held, part)
    assert held == found


async def test_a_field_inside_of_a_list_can_be_set(stage: Stage) -> None:
    before = await stage.ask()
    result = next(said for said in before if isinstance(said.event, ToolSucceeded))

    forked = await fork(
        stage,
        [Change(kind="set", name="passages.0.source", value="Elsewhere")],
        at=result.seq,
    )

    changed = forked[result.seq - 1].event
    assert isinstance(changed, ToolSucceeded)
    assert changed.passages[0].source == "Elsewhere"


async def test_a_fork_is_listed_as_the_newest_with_a_duration_of_its_own(
    stage: Stage,
) -> None:
    before = [replace(each, at=each.at - 5_000_000) for each in await stage.ask()]
    old = [replace(each, query_id="old") for each in before]
    await stage.store.add(old)

    running = await stage.history.fork("old", 5, [], "live")
    await running.outcome()
    newest, *_ = await stage.store.list()

    assert newest.query_id == running.query_id
    assert newest.parent == "old"
    assert newest.duration_ms is not None
    assert newest.duration_ms < 60_000
    forked = await stage.store.read(running.query_id)
    assert replay(forked).divergence is None


async def test_a_live_fork_names_the_versions_of_today(stage: Stage) -> None:
    await stage.ask()
    stage.history = History(
        stage.bus,
        stage.parts,
        stage.store,
        versions=lambda: (("reasoner", "today's"), ("index", "7")),
    )

    live = (await fork(stage, [], mode="live", at=2))[0].event
    recorded = (await fork(stage, [], at=2))[0].event

    assert isinstance(live, QueryReceived)
    assert isinstance(recorded, QueryReceived)
    others = {("fork.reasoner", "today's"), ("fork.index", "7")}
    assert set(live.versions) - set(recorded.versions) == others
    assert not others & set(recorded.versions)


@pytest.mark.parametrize(
    ("mode", "models", "tools"),
    [
        ("recorded", (), ()),
        ("remodel", ("counted",), ("get_course_outline", "search_course_content")),
        ("live", ("counted",), ("get_course_outline", "search_course_content")),
    ],
)
async def test_the_plan_of_a_fork_says_what_will_be_live_and_may_cost(
    stage: Stage, mode: Mode, models: tuple[str, ...], tools: tuple[str, ...]
) -> None:
    await stage.ask()
    stage.calls()

    planned = await stage.history.plan_fork("q1", 2, [], mode)

    assert (planned.models, planned.tools) == (models, tools)
    assert planned.calls == (3 if models else 0)
    # This model's price is unknown, so any call may cost something.
    assert planned.may_cost == bool(models)
    assert ("Nothing is live" in planned.sentence) == (mode == "recorded")
    assert stage.calls() == []
    assert len(await stage.store.list()) == 1


async def test_a_query_with_injected_faults_says_so_and_replays_as_one(
    stage: Stage,
) -> None:
    before = await stage.ask()
    injector = Injector((Fault(point="publish.context_synthesized", kind="duplicate"),))

    running = await stage.history.fork("q1", 5, [], "recorded", injector)
    with structlog.testing.capture_logs():
        await running.outcome()
    forked = await stage.store.read(running.query_id)

    first = forked[0].event
    assert isinstance(first, QueryReceived)
    assert first.faults == ("fault duplicate at publish.context_synthesized",)
    assert isinstance(before[0].event, QueryReceived)
    assert before[0].event.faults == ()
    divergence = replay(forked).divergence
    assert divergence is not None
    assert divergence.difference == "fault"
