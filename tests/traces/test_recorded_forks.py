"""A recorded fork answers each call from the recording, asks nobody, and stops at a call that was never recorded."""

from __future__ import annotations

import asyncio
import zlib
from collections import Counter
from collections.abc import Sequence

import msgspec
import pytest
import structlog

from antiphon.engine import Script, ScriptedReply
from antiphon.engine.offline.script import ScriptedCall
from antiphon.faults import Injector
from antiphon.faults.plan import Fault
from antiphon.history.recording import Recording
from antiphon.service import Change, replay
from antiphon.traces import from_json
from antiphon.vocabulary import events as e
from antiphon.vocabulary.events import Event, Recorded, ResponseAssembled
from antiphon.vocabulary.values import QuerySettings, StoredText, ToolCall
from tests import virtual_time
from tests.doubled_query import ask
from tests.story import placed, tool_succeeded
from tests.traces.conftest import Lines
from tests.traces.recorded_fork import Forks
from tests.traces.test_corpus import diverging, traces

Trace = list[Recorded[Event]]
DISTURBED = (
    e.HandlerFailed,
    e.SessionStalled,
    e.RecordingFailed,
    e.QueryCancelled,
)
"""Events that a fork does not repeat: failures of the recording process, and a caller who left."""


def calls(*words: str) -> ScriptedReply:
    wanted = [ScriptedCall(name="look_up", input={"words": each}) for each in words]
    return ScriptedReply(calls=tuple(wanted))


async def asked(*replies: ScriptedReply, **settings: object) -> Trace:
    """A query against the double, whose tool says something else each time and takes 30 s for `slow`."""
    told: list[str] = []

    async def look_up(words: str) -> str:
        """Looks words up."""
        told.append(words)
        if words == "slow":
            await asyncio.sleep(30)
        return f"Of {words}, page {len(told)}: logs grow by rule {len(told)}."

    script = Script(replies=replies)
    wishes = QuerySettings(**settings)  # type: ignore[arg-type]  # settings by name
    # In another thread, because virtual time runs its own event loop.
    query = await asyncio.to_thread(
        virtual_time.run, ask(script, look_up, settings=wishes)
    )
    return query.events


def answer_of(trace: Sequence[Recorded[Event]]) -> ResponseAssembled | None:
    for recorded in trace:
        if isinstance(recorded.event, ResponseAssembled):
            return recorded.event
    return None


def of(kind: type[Event], trace: Sequence[Recorded[Event]]) -> list[Event]:
    return [recorded.event for recorded in trace if isinstance(recorded.event, kind)]


def is_eligible(trace: Trace) -> bool:
    """True for a query that reached an answer and lost no event to a planted fault."""
    if answer_of(trace) is None or of_any(DISTURBED, trace):
        return False
    ended: set[str] = set()
    for recorded in trace:
        event = recorded.event
        if isinstance(event, e.ToolSucceeded | e.ToolFailed):
            ended.add(event.tool_call_id)
        if isinstance(event, e.ToolsSettled):
            settled = {*event.succeeded, *event.failed}
            if not settled <= ended:
                return False
    return True


def of_any(kinds: tuple[type[Event], ...], trace: Trace) -> bool:
    return any(isinstance(recorded.event, kinds) for recorded in trace)


def forms_of(lines: Sequence[bytes]) -> list[dict[str, object]]:
    return [msgspec.json.decode(line)["event"] for line in lines]


async def test_an_unchanged_fork_of_every_trace_of_the_corpus_gives_the_same_answer() -> (
    None
):
    differing: list[str] = []
    forked = 0
    # Today's rules decide these differently, in a fork as in a replay.
    decided_otherwise = diverging()

    for query_id, lines in traces():
        trace = [from_json(line) for line in lines]
        if not is_eligible(trace):
            continue
        forked += 1
        # The hash varies the place from trace to trace, but not from run to run.
        at = 1 + zlib.crc32(query_id.encode()) % (len(trace) - 1)
        forks = Forks(trace, forms=forms_of(lines))
        _, fork = await forks.fork(at)
        expected = [answer_of(trace)]
        if query_id in decided_otherwise:
            # The recorded answer if it was drafted before the fork's place; otherwise the answer by today's rules.
            _, from_the_first = await forks.fork(1, of=query_id)
            expected.append(answer_of(from_the_first))
        same = False
        for answer in expected:
            assert answer is not None
            same = same or answer_of(fork) == with_seqs_of(answer, fork)
        if not same or forks.went_out:
            differing.append(f"{query_id} at {at}")

    assert differing == []
    assert forked > 1_000


async def test_a_fork_repeats_alarms_a_callers_departure_and_earlier_attempts() -> None:
    kinds = (
        *(e.DeadlineNeared, e.DeadlinePassed, e.QueryCancelled),
        *(e.ReasoningStarted, e.ReasoningRetried),
    )
    differing: list[str] = []
    forked: Counter[str] = Counter()

    for query_id, lines in traces():
        trace = [from_json(line) for line in lines]
        present = {type(recorded.event) for recorded in trace}
        by_itself = present & {*kinds[:3], e.QueryResumed}
        is_torn = present & {e.HandlerFailed, e.SessionStalled, e.RecordingFailed}
        is_over = isinstance(trace[-1].event, e.QueryClosed)
        # The caller left before the first request, so the fork needs replies that were never recorded.
        left_at_once = isinstance(trace[1].event, e.QueryCancelled)
        if not by_itself or is_torn or not is_over or left_at_once:
            continue
        if query_id in diverging():
            continue
        _, fork = await Forks(trace, forms=forms_of(lines)).fork(1)
        forked.update(kind.kind_name() for kind in by_itself)
        if [of(kind, fork) for kind in kinds] != [of(kind, trace) for kind in kinds]:
            differing.append(query_id)

    assert differing == []
    assert min(forked.values()) > 1
    assert len(forked) == len({*kinds[:3], e.QueryResumed})


@pytest.mark.parametrize("setting", ["max_tokens=700", "max_rounds=1"])
@pytest.mark.parametrize("mode", ["recorded", "under a fault"])
async def test_a_recorded_fork_with_a_setting_replays_though_the_tools_are_others_now(
    setting: str, mode: str
) -> None:
    trace = await asked(calls("a"), calls("b"), ScriptedReply(text="By rules."))
    forks = Forks(trace, tool="find")
    name, value = setting.split("=")
    around = None
    if mode == "under a fault":
        around = Injector((Fault(point="publish.query_closed", kind="late"),))

    _, fork = await forks.fork(
        None, Change(kind="setting", name=name, value=value), interceptor=around
    )

    offered = [each.request.tools for each in of(e.ReasoningStarted, fork)]  # type: ignore[attr-defined]  # requests
    assert offered[0] == trace_tools(trace)
    found = replay(fork, tools=forks.parts.tool_definitions).divergence
    # The fault itself breaks the end of the query.
    assert found is None or (found.difference, found.kind) == ("fault", "query_closed")


@pytest.mark.parametrize(
    "setting", ["max_rounds=1", "max_rounds=4", "briefing_tokens=400", "deadline_s=8"]
)
async def test_a_recorded_fork_with_a_setting_replays_from_any_event(
    setting: str, thousand: Lines
) -> None:
    name, value = setting.split("=")
    change = Change(kind="setting", name=name, value=value)
    otherwise = 0

    for lines in list(thousand.values())[:120:3]:
        trace = [from_json(line) for line in lines]
        if of_any(DISTURBED, trace):
            continue
        for at in (len(trace) // 3, len(trace) // 2, len(trace) - 2):
            _, fork = await Forks(trace).fork(at, change)

            found = replay(fork)
            assert found.divergence is None, (trace[0].query_id, at)
            assert f"events 1 to {at}:" in found.skipped[0]
            otherwise += len(fork) != len(trace)

    assert otherwise > 10


@pytest.mark.parametrize("deadline_s", [8, 50, 100])
async def test_a_recorded_fork_with_another_deadline_has_the_alarms_of_that_deadline(
    deadline_s: int, thousand: Lines
) -> None:
    forked = 0

    for lines in list(thousand.values())[:150]:
        trace = [from_json(line) for line in lines]
        if not of_any((e.DeadlineNeared,), trace) or of_any(DISTURBED, trace):
            continue
        change = Change(kind="setting", name="deadline_s", value=str(deadline_s))
        _, fork = await Forks(trace).fork(None, change)
        forked += 1
        assert replay(fork).divergence is None

    assert forked > 3


def trace_tools(trace: Trace) -> StoredText | None:
    """The tools that the first request of a trace offers."""
    for recorded in trace:
        if isinstance(recorded.event, e.ReasoningStarted):
            return recorded.event.request.tools
    return None


def with_seqs_of(
    answer: ResponseAssembled, fork: Sequence[Recorded[Event]]
) -> ResponseAssembled | None:
    """The answer with its event numbers taken from the fork: repeated events may shift them."""
    found = answer_of(fork)
    if found is None or len(found.indicators) != len(answer.indicators):
        return None
    indicators = []
    for ours, theirs in zip(answer.indicators, found.indicators, strict=True):
        indicators.append(
            type(ours)(kind=ours.kind, detail=ours.detail, event_seq=theirs.event_seq)
        )
    return answer.__class__(
        **{
            **{name: getattr(answer, name) for name in answer.__struct_fields__},
            "indicators": tuple(indicators),
        }
    )


async def test_a_changed_word_in_a_request_asks_nobody() -> None:
    trace = await asked(calls("a"), calls("b"), ScriptedReply(text="By rules."))
    forks = Forks(trace)
    requested = next(r.seq for r in trace if isinstance(r.event, e.ReasoningRequested))
    shown = Change(
        kind="set", name="messages.0.content.0", value='{"type":"text","text":"Hm?"}'
    )

    outcome, fork = await forks.fork(requested, shown)

    assert forks.went_out == 0
    assert outcome.response.answer == "By rules."
    started = of(e.ReasoningStarted, fork)[0]
    assert isinstance(started, e.ReasoningStarted)
    assert "Hm?" in started.request.messages[0].content[0].text


@pytest.mark.parametrize("mode", ["recorded", "under a fault"])
async def test_a_fork_stops_at_a_reply_that_was_never_recorded_and_names_it(
    mode: str,
) -> None:
    trace = await asked(calls("a"), calls("b"), ScriptedReply(text="By rules."))
    forks = Forks(trace)
    around = None
    if mode == "under a fault":
        around = Injector((Fault(point="publish.query_closed", kind="late"),))

    outcome, fork = await forks.fork(
        1, Change(kind="setting", name="max_rounds", value="1"), interceptor=around
    )

    assert forks.went_out == 0
    assert outcome.status == "cancelled"
    (cancelled,) = of(e.QueryCancelled, fork)
    assert isinstance(cancelled, e.QueryCancelled)
    assert "call-2 is a final call" in cancelled.why
    assert "its call-2 was a call of round 2" in cancelled.why
    assert "`remodel`" in cancelled.why
    assert "call-2 is a final call" in outcome.response.answer


async def test_a_tool_call_that_was_never_recorded_stops_the_fork() -> None:
    trace = await asked(calls("a"), ScriptedReply(text="By rules."))
    forks = Forks(trace)
    reply = next(r.seq for r in trace if isinstance(r.event, e.ReasoningCompleted))
    other = (
        '[{"type":"tool_use","id":"t9","name":"look_up","input":{"words":"another"}}]'
    )

    outcome, _ = await forks.fork(reply, Change(kind="reply", value=other))

    assert forks.went_out == 0
    assert outcome.status == "cancelled"
    assert 'no result of look_up {"words":"another"}' in outcome.response.answer


async def test_a_call_under_another_id_is_answered_as_the_same_call_was() -> None:
    trace = await asked(
        calls("a"), ScriptedReply(text="By rules."), early_dispatch=False
    )
    forks = Forks(trace)
    reply = next(r.seq for r in trace if isinstance(r.event, e.ReasoningCompleted))
    same = '[{"type":"tool_use","id":"t9","name":"look_up","input":{"words":"a"}}]'

    _, fork = await forks.fork(reply, Change(kind="reply", value=same))

    results = of(e.ToolSucceeded, fork)
    assert {r.output.text for r in results} == {  # type: ignore[attr-defined]  # results of tools
        "Of a, page 1: logs grow by rule 1."
    }
    assert "t9" in {r.tool_call_id for r in results}  # type: ignore[attr-defined]
    assert forks.went_out == 0


@pytest.mark.parametrize("mode", ["recorded", "remodel", "under a fault"])
async def test_a_tool_that_timed_out_times_out_again(mode: str) -> None:
    trace = await asked(
        calls("slow"), ScriptedReply(text="By rules."), tool_timeout_s=0.2
    )
    (before,) = of(e.ToolFailed, trace)
    assert isinstance(before, e.ToolFailed)
    forks = Forks(trace)
    requested = next(r.seq for r in trace if isinstance(r.event, e.ToolRequested))
    around = None
    if mode == "under a fault":
        around = Injector((Fault(point="publish.query_closed", kind="late"),))

    _, fork = await forks.fork(
        requested,
        mode="remodel" if mode == "remodel" else "recorded",
        interceptor=around,
    )

    (after,) = of(e.ToolFailed, fork)
    assert isinstance(after, e.ToolFailed)
    assert after.failure == before.failure == "timeout"
    assert forks.ran == []


def test_equal_tool_calls_each_get_their_own_result() -> None:
    first, second = tool_succeeded("One."), tool_succeeded("Two.", tool_call_id="t2")
    recording = Recording(placed("q", [wanted("t1"), wanted("t2"), second, first]))

    results = [
        recording.result_of(wanted(call_id).call) for call_id in ("x1", "x2", "x1")
    ]

    assert [each.outcome for each in results if each] == [first, second, first]
    assert recording.result_of(wanted("x3").call) is None


def wanted(call_id: str) -> e.ToolRequested:
    call = ToolCall(id=call_id, name="look_up", arguments='{"words":"a"}')
    return e.ToolRequested(round=1, call=call, timeout_s=1.0)


async def test_a_fork_repeats_retries_unchanged() -> None:
    trace = await asked(
        ScriptedReply(status=529), calls("a"), ScriptedReply(text="By rules.")
    )
    forks = Forks(trace)

    outcome, fork = await forks.fork(2)

    assert len(of(e.ReasoningRetried, trace)) == 1
    for kind in (e.ReasoningRetried, e.ReasoningStarted, e.ReasoningCompleted):
        assert of(kind, fork) == of(kind, trace)
    assert outcome.duration_ms == pytest.approx(
        (trace[-1].at - trace[0].at) * 1000, abs=1
    )


async def test_a_fork_names_the_reasoners_of_its_recording() -> None:
    trace = await asked(calls("a"), ScriptedReply(text="By rules.", model="claude-x"))

    _, fork = await Forks(trace).fork(2)

    reasoners = {each.reasoner for each in of(e.ReasoningStarted, fork)}  # type: ignore[attr-defined]  # they have one
    assert reasoners == {each.reasoner for each in of(e.ReasoningStarted, trace)}  # type: ignore[attr-defined]
    assert "counting" not in reasoners


async def test_a_fork_begins_today_however_old_its_parent_is() -> None:
    trace = await asked(calls("a"), ScriptedReply(text="By rules."))
    forks = Forks(trace)

    outcome, fork = await forks.fork(4)

    assert forks.parts.clock.now() - fork[0].at < 60
    assert outcome.duration_ms < 60_000
    times = [recorded.at for recorded in fork]
    assert times == sorted(times)


async def test_a_recorded_fork_replays() -> None:
    for query_id, lines in traces():
        trace = [from_json(line) for line in lines]
        one_in_twenty = zlib.crc32(query_id.encode()) % 20 == 0
        if one_in_twenty and query_id not in diverging() and is_eligible(trace):
            forks = Forks(trace, forms=forms_of(lines))
            _, fork = await forks.fork(len(trace) // 2)
            assert replay(fork).divergence is None, query_id


async def test_a_recorded_fork_opens_no_circuit() -> None:
    trace = await asked(
        *[ScriptedReply(status=529)] * 4, ScriptedReply(text="By rules.")
    )
    forks = Forks(trace)

    with structlog.testing.capture_logs():
        for _ in range(6):
            await forks.fork(2, of="q")

    assert not forks.parts.provider_circuit.keeps_out(forks.parts.clock.now())
