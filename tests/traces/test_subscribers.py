"""An external component is part of a query: recorded, replayed, forked and compared like one of ours."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from types import MappingProxyType

import pytest
import pytest_asyncio
from msgspec.structs import replace

from antiphon.history.explaining import Cause
from antiphon.service import (
    Antiphon,
    Question,
    ReplayRun,
    diff,
    load_settings,
    load_subscribers,
    replay,
    replay_lines,
    replay_stored,
    sealed_trace,
    trace_test,
)
from antiphon.traces import (
    SqliteTraceStore,
    file_of_lines,
    from_json,
    read_trace_file,
    to_json,
    trace_file,
    trace_lines,
)
from antiphon.vocabulary.deciding import Decider, Rules
from antiphon.vocabulary.errors import DecodeError
from antiphon.vocabulary.events import (
    ROUND,
    ContextSynthesized,
    Event,
    QueryReceived,
    Recorded,
    ToolSucceeded,
)
from antiphon.vocabulary.fields import Untrusted
from antiphon.vocabulary.ports import Subscription, on
from antiphon.vocabulary.subscribers import Subscriber, Surroundings
from antiphon.vocabulary.unknown import UnknownEvent
from tests.story import placed
from tests.traces.conftest import Lines
from tests.traces.plants import the_answer_is_in_capitals

Trace = Sequence[Recorded[Event]]


class PassagesCounted(Event, frozen=True, kw_only=True, tag="passages_counted"):
    """The number of passages that were found so far."""

    emitted_by = ("counter",)

    passages: int


class PassagesFiled(Event, frozen=True, kw_only=True, tag="passages_filed"):
    """What a round found was written into a file of somebody's."""

    emitted_by = ("filing",)
    about = ROUND

    round: int
    file: Untrusted


def count_passages(
    state: int, recorded: Recorded[ToolSucceeded]
) -> tuple[int, tuple[Event, ...]]:
    found = state + len(recorded.event.passages)
    return found, (PassagesCounted(passages=found),)


class Counter(Decider[int]):
    """Counts what was found."""

    role = "counter"
    initial = 0
    rules: Rules[int] = MappingProxyType({ToolSucceeded: count_passages})


class Filing:
    """Files what each round finds."""

    def __init__(self, surroundings: Surroundings) -> None:
        self._publish = surroundings.ports.publish

    def on_context_synthesized(self, recorded: Recorded[ContextSynthesized]) -> None:
        self._publish(PassagesFiled(round=recorded.event.round, file="rounds.txt"))


def file_rounds(surroundings: Surroundings) -> Sequence[Subscription]:
    filing = Filing(surroundings)
    return [on(ContextSynthesized, filing.on_context_synthesized)]


COUNTER = Subscriber(name="counter", events=(PassagesCounted,), decider=Counter)
FILING = Subscriber(name="filing", events=(PassagesFiled,), act=file_rounds)
BOTH = (COUNTER, FILING)


def counter() -> Subscriber:
    """The factory that a setting names."""
    return COUNTER


@pytest_asyncio.fixture
async def service(tmp_path: Path) -> AsyncIterator[Antiphon]:
    settings = load_settings(data_dir=tmp_path, embedder="onnx", reasoner="offline")
    opened = await Antiphon.open(settings, BOTH)
    yield opened
    await opened.close()


async def ask(service: Antiphon) -> Trace:
    outcome = await service.ask(Question(query="What is a circuit breaker?"))
    return await service.store.read(outcome.query_id)


def of_kind(trace: Trace, kind: type[Event]) -> list[Event]:
    return [recorded.event for recorded in trace if isinstance(recorded.event, kind)]


async def test_its_events_are_recorded_and_the_first_event_names_it(
    service: Antiphon,
) -> None:
    trace = await ask(service)

    assert of_kind(trace, PassagesCounted)
    assert of_kind(trace, PassagesFiled)
    first = trace[0].event
    assert isinstance(first, QueryReceived)
    assert ("subscribers", "counter, filing") in first.versions


async def test_a_replay_compares_its_decisions_and_does_not_repeat_its_actions(
    service: Antiphon,
) -> None:
    trace = await ask(service)
    [filed, *_] = [
        recorded for recorded in trace if isinstance(recorded.event, PassagesFiled)
    ]
    [*_, counted] = [
        recorded for recorded in trace if isinstance(recorded.event, PassagesCounted)
    ]
    assert isinstance(counted.event, PassagesCounted)

    assert replay(trace, subscribers=BOTH).divergence is None
    assert (
        replay(
            changed(trace, filed, PassagesFiled(round=1, file="another")),
            subscribers=BOTH,
        ).divergence
        is None
    )
    divergence = replay(
        changed(trace, counted, PassagesCounted(passages=999)), subscribers=BOTH
    ).divergence
    assert divergence is not None
    assert (divergence.seq, divergence.kind, divergence.field) == (
        counted.seq,
        "passages_counted",
        "passages",
    )


async def test_a_replay_shows_its_state_event_by_event(service: Antiphon) -> None:
    trace = await ask(service)
    run = ReplayRun(trace, subscribers=BOTH)
    before = run.states()

    for recorded in trace:
        run.step(recorded)

    counted = of_kind(trace, PassagesCounted)[-1]
    assert isinstance(counted, PassagesCounted)
    assert (before["Counter"], run.states()["Counter"]) == (
        {"state": 0},
        {"state": counted.passages},
    )


async def test_a_trace_without_its_subscriber_says_which_one_is_missing(
    service: Antiphon, tmp_path: Path
) -> None:
    trace = await ask(service)
    wanted = "was recorded with the subscriber counter, which is not loaded"

    in_lines = replay_lines(
        [to_json(recorded) for recorded in trace], [FILING]
    ).divergence
    in_store = (await service.history.replay(trace[0].query_id)).divergence
    without = Antiphon.open(
        load_settings(data_dir=tmp_path, embedder="onnx", reasoner="offline"), [FILING]
    )

    assert in_store is None
    assert in_lines is not None
    assert wanted in in_lines.detail
    assert "passages_counted" in in_lines.detail
    other = await without
    try:
        divergence = (
            await replay_stored(other.store, trace[0].query_id, [FILING])
        ).divergence
    finally:
        await other.close()
    assert divergence is not None
    assert wanted in divergence.detail


async def test_a_trace_without_its_subscriber_is_shown_exported_and_imported_whole(
    service: Antiphon, tmp_path: Path
) -> None:
    trace = await ask(service)
    query_id = trace[0].query_id
    lines = [to_json(recorded) for recorded in trace]
    settings = load_settings(data_dir=tmp_path, embedder="onnx", reasoner="offline")
    elsewhere = SqliteTraceStore.open(tmp_path / "elsewhere")
    without = await Antiphon.open(settings)

    try:
        shown = await without.store.read(query_id)
        exported = file_of_lines(query_id, await without.store.lines(query_id))
        await elsewhere.add(read_trace_file(exported))
        found = diff(shown, shown)
    finally:
        await without.close()

    unknown = [each for each in shown if isinstance(each.event, UnknownEvent)]
    assert {each.event.kind_name() for each in unknown} == {
        "passages_counted",
        "passages_filed",
    }
    assert [to_json(recorded) for recorded in shown] == lines
    assert exported == trace_file(trace)
    stored = await elsewhere.lines(query_id)
    await elsewhere.close()
    assert file_of_lines(query_id, stored) == exported
    assert (found.differences, found.same) == ((), len(trace))


async def test_a_query_is_neither_resumed_nor_forked_without_its_subscriber(
    service: Antiphon, tmp_path: Path
) -> None:
    trace = await ask(service)
    counted = next(r.seq for r in trace if isinstance(r.event, PassagesCounted))
    interrupted = placed("interrupted", [each.event for each in trace[:counted]])
    await service.store.append("interrupted", 0, interrupted)
    await service.close()
    settings = load_settings(data_dir=tmp_path, embedder="onnx", reasoner="offline")
    refused = "'passages_counted'.*ANTIPHON_SUBSCRIBERS.*cannot go on"

    without = await Antiphon.open(settings)
    try:
        with pytest.raises(DecodeError, match=refused):
            await without.history.resume("interrupted")
        with pytest.raises(DecodeError, match=refused):
            await without.history.fork(trace[0].query_id, 2, [], "recorded")
    finally:
        await without.close()


def test_a_missing_subscriber_does_not_excuse_a_changed_rule_of_ours(
    thousand: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = [from_json(line) for line in thousand["q3"]]
    first = trace[0].event
    assert isinstance(first, QueryReceived)
    versions = (*first.versions, ("subscribers", "counter"))
    trace[0] = replace(trace[0], event=replace(first, versions=versions))
    unchanged = replay(trace).divergence

    the_answer_is_in_capitals(monkeypatch)
    divergence = replay(trace).divergence

    assert unchanged is None
    assert divergence is not None
    assert divergence.kind == "response_assembled"
    assert divergence.difference == "code"


async def test_it_takes_part_in_a_fork(service: Antiphon) -> None:
    trace = await ask(service)

    handle = await service.history.fork(trace[0].query_id, 2, [], "recorded")
    await handle.outcome()
    forked = await service.store.read(handle.query_id)

    assert of_kind(forked, PassagesCounted) == of_kind(trace, PassagesCounted)
    assert (await service.history.replay(handle.query_id)).divergence is None
    assert (
        await service.history.diff(trace[0].query_id, handle.query_id)
    ).differences == ()


@pytest.mark.parametrize(
    ("event", "cause"),
    [
        (PassagesFiled(round=1, file="another"), "subscriber"),
        (PassagesCounted(passages=999), "code"),
    ],
)
async def test_the_diff_names_the_cause_of_a_difference_in_its_events(
    service: Antiphon, event: Event, cause: Cause
) -> None:
    trace = await ask(service)
    place = next(recorded for recorded in trace if type(recorded.event) is type(event))

    found = diff(trace, changed(trace, place, event), BOTH)

    assert [difference.because for difference in found.differences] == [cause]


async def test_a_trace_of_it_becomes_a_test_that_loads_it(tmp_path: Path) -> None:
    settings = load_settings(
        data_dir=tmp_path,
        embedder="onnx",
        reasoner="offline",
        subscribers=f"{__name__}:counter",
    )
    service = await Antiphon.open(settings)
    try:
        trace = await ask(service)
    finally:
        await service.close()

    data, test = trace_test(trace, "mine", subscriber_paths=settings.subscribers)
    (tmp_path / "mine.jsonl").write_bytes(data)

    assert f"load_subscribers('{__name__}:counter')" in test
    loaded = load_subscribers(settings.subscribers)
    assert (
        sealed_trace(tmp_path / "mine.jsonl", trace_lines(data)[0].sha256, loaded)
        == trace
    )


def changed(trace: Trace, place: Recorded[Event], event: Event) -> Trace:
    """The trace with another event in one place."""
    return [*trace[: place.seq - 1], replace(place, event=event), *trace[place.seq :]]
