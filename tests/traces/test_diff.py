"""Compares two traces: the differences, their causes, and the consequences that follow from them."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import msgspec
import pytest
import pytest_asyncio
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from antiphon.cli.trace_views import show_diff
from antiphon.history.differing_fields import differing_fields, differing_words
from antiphon.service import Change, Diff, Divergence, Mode, diff
from antiphon.traces import event_of, plain
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.events import (
    BriefingPrepared,
    DeadlineNeared,
    Event,
    QueryReceived,
    ReasoningCompleted,
    ReasoningRequested,
    Recorded,
    ResponseAssembled,
    ToolFailed,
    ToolSucceeded,
)
from antiphon.vocabulary.values import StoredText, Usage
from tests.traces.stage import Stage

Trace = Sequence[Recorded[Event]]


@pytest_asyncio.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    made = Stage(tmp_path)
    yield made
    await made.store.close()


def changed(trace: Trace, seq: int, event: Event) -> Trace:
    return [*trace[: seq - 1], replace(trace[seq - 1], event=event), *trace[seq:]]


def with_other_ids(event: Event, ids: set[str]) -> Event:
    text = msgspec.json.encode(plain(event)).decode()
    for name in ids:
        text = text.replace(f'"{name}"', f'"{name}-other"').replace(
            f'\\"{name}\\"', f'\\"{name}-other\\"'
        )
    return event_of(msgspec.json.decode(text))


def of_kind(trace: Trace, kind: type[Event]) -> Recorded[Event]:
    return next(said for said in trace if isinstance(said.event, kind))


async def forked(
    stage: Stage,
    changes: list[Change],
    at: int | None = None,
    mode: Mode = "recorded",
) -> Diff:
    running = await stage.history.fork("q1", at, changes, mode)
    await running.outcome()
    return diff(await stage.store.read("q1"), await stage.store.read(running.query_id))


async def test_a_fork_in_which_nothing_is_changed_does_not_differ(stage: Stage) -> None:
    await stage.ask()

    found = await forked(stage, [], at=5)

    assert {each.because for each in found.differences} <= {"order"}
    assert {mark for mark, _ in found.sentences} == {"="}


async def test_all_that_follows_from_a_changed_tool_result_differs_by_the_tool(
    stage: Stage,
) -> None:
    before = await stage.ask()
    result = of_kind(before, ToolSucceeded).event
    assert isinstance(result, ToolSucceeded)

    found = await forked(
        stage, [Change(kind="tool", name=result.tool_call_id, value="Nobody knows.")]
    )

    assert len(found.differences) > 3
    assert {each.because for each in found.differences} - {"order"} == {"tool"}


async def test_all_that_follows_from_another_reply_differs_by_the_model(
    stage: Stage,
) -> None:
    before = await stage.ask()

    found = await forked(
        stage,
        [Change(kind="reply", value="It ranks by rarity.")],
        at=of_kind(before, ReasoningCompleted).seq,
    )

    assert {each.because for each in found.differences} - {"order"} == {"model"}
    assert ("+", "It ranks by rarity.") in found.sentences
    assert "-" in {mark for mark, _ in found.sentences}


async def test_all_that_follows_from_a_setting_differs_by_the_settings(
    stage: Stage,
) -> None:
    await stage.ask()

    found = await forked(
        stage,
        [Change(kind="setting", name="max_rounds", value="1")],
        mode="remodel",
    )

    assert {each.because for each in found.differences} - {"order"} == {"settings"}
    assert (found.left.rounds, found.right.rounds) == (2, 1)


async def test_a_different_decision_after_the_same_events_differs_by_the_code(
    stage: Stage,
) -> None:
    before = await stage.ask()
    briefing = of_kind(before, BriefingPrepared)
    assert isinstance(briefing.event, BriefingPrepared)

    found = diff(
        before, changed(before, briefing.seq, replace(briefing.event, tokens=99_999))
    )

    assert [(each.kind, each.because, each.field) for each in found.differences] == [
        ("briefing_prepared", "code", "tokens")
    ]


async def test_the_same_events_in_another_order_differ_by_the_order(
    stage: Stage,
) -> None:
    before = await stage.ask()
    first, second = (
        said
        for said in before
        if isinstance(said.event, ToolSucceeded) and said.seq < 20
    )
    swapped = changed(changed(before, first.seq, second.event), second.seq, first.event)

    found = diff(before, swapped)

    assert [(each.kind, each.because) for each in found.differences] == [
        ("tool_succeeded", "order")
    ]


async def test_an_alarm_in_only_one_trace_differs_by_the_time(stage: Stage) -> None:
    before = await stage.ask()
    late = replace(
        before[-1], seq=len(before) + 1, cause=0, event=DeadlineNeared(left_s=1.0)
    )

    assert [each.because for each in diff(before, [*before, late]).differences] == [
        "time"
    ]


async def test_a_tool_that_failed_in_one_differs_by_the_tool(stage: Stage) -> None:
    before = await stage.ask()
    result = of_kind(before, ToolSucceeded)
    assert isinstance(result.event, ToolSucceeded)
    failed = ToolFailed(
        tool_call_id=result.event.tool_call_id,
        name="x",
        failure="error",
        detail="it raised",
    )

    assert {
        each.because
        for each in diff(before, changed(before, result.seq, failed)).differences
    } == {"tool"}


async def test_the_ids_that_a_model_makes_up_are_no_difference(stage: Stage) -> None:
    before = await stage.ask()
    ids = {
        said.event.tool_call_id
        for said in before
        if isinstance(said.event, ToolSucceeded)
    }
    renamed = [replace(said, event=with_other_ids(said.event, ids)) for said in before]

    # Otherwise the test would compare the trace with itself.
    assert renamed != before
    assert diff(before, renamed).differences == ()


async def test_the_diff_shows_tokens_cost_and_time_side_by_side(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    before = await stage.ask()
    said = of_kind(before, ResponseAssembled)
    assert isinstance(said.event, ResponseAssembled)
    dear = replace(
        said.event, usage=Usage(input_tokens=1200, output_tokens=34, cost_usd=0.0123)
    )

    show_diff(diff(before, changed(before, said.seq, dear)))

    printed = capsys.readouterr().out
    assert "1,200, 34" in printed
    assert "$0.0123" in printed
    assert "\nms\t" in printed


async def test_settings_that_no_query_may_have_are_refused(stage: Stage) -> None:
    await stage.ask()

    with pytest.raises(
        BadInputError, match="`max_rounds` is 77, it must be from 0 to 5"
    ):
        await forked(stage, [Change(kind="setting", name="max_rounds", value="77")])
    with pytest.raises(BadInputError, match="over at event"):
        await forked(stage, [], at=len(await stage.store.read("q1")))


async def test_the_same_question_asked_twice_does_not_differ_by_the_settings(
    stage: Stage,
) -> None:
    left = await stage.ask()
    right = [
        replace(recorded, query_id="q2", event=with_ids_of_another_run(recorded.event))
        for recorded in left
    ]
    assert right != left
    reply = of_kind(right, ReasoningCompleted)
    assert isinstance(reply.event, ReasoningCompleted)
    other = replace(reply.event, text=StoredText("Otherwise."))

    assert diff(left, right).differences == ()
    found = diff(left, changed(right, reply.seq, other))

    assert {each.because for each in found.differences} == {"model"}


def with_ids_of_another_run(event: Event) -> Event:
    """The event with another conversation, and with other server-made ids."""
    changes: dict[str, object] = {}
    for name in ("session_id", "message_id", "request_id"):
        if name in event.__struct_fields__:
            changes[name] = "another"
    return replace(event, **changes)


async def test_another_question_differs_by_the_question(stage: Stage) -> None:
    before = await stage.ask()
    first = before[0].event
    assert isinstance(first, QueryReceived)
    other = replace(first, query="How do logs grow?")

    found = diff(before, changed(before, 1, other))

    assert [(each.because, each.field) for each in found.differences] == [
        ("question", "query")
    ]


async def test_what_somebody_changed_in_a_fork_differs_by_the_change(
    stage: Stage,
) -> None:
    before = await stage.ask()
    asked = of_kind(before, ReasoningRequested)
    change = Change(
        kind="set", name="messages.0.content.0", value='{"type":"text","text":"Hm?"}'
    )

    found = await forked(stage, [change], at=asked.seq)

    assert found.differences[0].because == "change"
    assert {each.because for each in found.differences} - {"order"} == {"change"}
    assert found.change == str(change)


async def test_the_diff_of_long_texts_shows_the_words_that_differ(stage: Stage) -> None:
    before = await stage.ask()
    reply = of_kind(before, ReasoningCompleted)
    assert isinstance(reply.event, ReasoningCompleted)
    words = [f"word{number}" for number in range(400)]
    left = replace(reply.event, text=StoredText(" ".join(words)))
    words[300] = "another"
    right = replace(left, text=StoredText(" ".join(words)))

    found = diff(changed(before, reply.seq, left), changed(before, reply.seq, right))

    (difference,) = found.differences
    assert difference.detail == (
        "text: … word296 word297 word298 word299 [-word300-] {+another+} "
        "word301 word302 word303 word304 …"
    )


async def test_the_diff_lists_all_fields_that_differ_and_all_events_by_their_cause(
    stage: Stage,
) -> None:
    before = await stage.ask()
    first = before[0].event
    assert isinstance(first, QueryReceived)
    settings = replace(first.settings, max_rounds=1, effort="low")
    late = replace(
        before[-1], seq=len(before) + 1, cause=0, event=DeadlineNeared(left_s=1.0)
    )

    found = diff(before, [*changed(before, 1, replace(first, settings=settings)), late])

    assert [each.path for each in found.differences[0].fields] == [
        "settings.max_rounds",
        "settings.effort",
    ]
    assert [(each.because, each.count, each.kinds) for each in found.groups] == [
        ("settings", 1, (("query_received", 1),)),
        ("time", 1, (("deadline_neared", 1),)),
    ]


@pytest.mark.parametrize(
    ("left", "right", "told"),
    [
        ("a b c", "a x c", "a [-b-] {+x+} c"),
        ("", "all of it", "{+all of it+}"),
        ("all of it", "", "[-all of it-]"),
        ("same same", "same", "same [-same-]"),
        ("1 2 3 4 5 6 7", "0 1 2 3 4 5 6 7", "{+0+} 1 2 3 4 …"),
    ],
)
def test_the_diff_shows_removed_and_added_words_among_the_unchanged_ones(
    left: str, right: str, told: str
) -> None:
    assert differing_words(left, right) == told


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_the_diff_shows_a_difference_at_any_place_in_a_text(
    data: st.DataObject,
) -> None:
    pieces = st.sampled_from(
        ["a", " ", "\n", "long" * 50, "word " * 30, '{"k":[1]}', "ß"]
    )
    same = "".join(data.draw(st.lists(pieces, max_size=9)))
    behind = "".join(data.draw(st.lists(pieces, max_size=3)))
    left, right = same + data.draw(pieces) + behind, same + data.draw(pieces) + behind
    assume(left != right)

    (found,) = differing_fields({"text": left}, {"text": right})

    # The command line cuts the text at this length.
    line = str(found)[:300]
    if found.words:
        marked = re.search(r"\[-(.*?)-\]|\{\+(.*?)\+\}", line)
        assert marked
        both = re.search(r"\[-(.*?)-\] \{\+(.*?)\+\}", line)
        assert both is None or both[1] != both[2]
    else:
        assert found.left.split() != found.right.split()


@pytest.mark.parametrize("most", [40, 300])
def test_a_divergence_shows_both_sides_from_shortly_before_they_differ(
    most: int,
) -> None:
    same = '{"kind":"query_closed","detail":"' + "long " * 200
    found = Divergence(
        seq=1, kind="query_closed", difference="code", field="detail", chain=(), detail="",
        recorded=f'{same}then"}}', now=f'{same}now"}}',
    )  # fmt: skip

    recorded, now = found.excerpts(most)

    assert recorded.endswith('long then"}')
    assert now.endswith('long now"}')
    assert max(len(recorded), len(now)) <= most


def test_an_added_item_shifts_none_of_the_others() -> None:
    left = {"facts": ["a", "b", "c"]}
    right = {"facts": ["new", "a", "b", "c"]}

    (found,) = differing_fields(left, right)

    assert (found.path, found.left, found.right) == ("facts[0]", "", '["new"]')


def test_long_texts_without_anything_in_common_are_compared_quickly() -> None:
    left = " ".join(f"a{number}" for number in range(60_000))
    right = " ".join(f"b{number}" for number in range(60_000))

    assert differing_words(left, right).startswith("[-a0 a1")
