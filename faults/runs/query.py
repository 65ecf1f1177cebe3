"""Runs one query that a plan breaks, with a caller who asks, follows and perhaps leaves, and notes the results."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Coroutine, Sequence
from typing import TypeGuard

from msgspec.structs import replace

from antiphon.faults.injector import Injector
from antiphon.faults.plan import Fault, Kind
from antiphon.faults.ports.injection import QueryFaults
from antiphon.faults.results import Run
from antiphon.faults.runs.world import QUESTIONS
from antiphon.service import Antiphon, Outcome, Query, Question
from antiphon.vocabulary.errors import (
    BadInputError,
    NotFoundError,
    ServiceError,
    SlowReaderError,
)
from antiphon.vocabulary.events import Event, Live, Recorded, RoundOpened

CONVERSATION = "an earlier conversation"
PATIENCE = 3.0
"""After this many times its deadline, a query counts as hanging."""
LARGE_BUFFER = 1_000_000
"""Events that the harness's own follower may be behind, so that it never counts as a slow reader."""
SMALL_BUFFER = 5
_WRONG_QUESTIONS: dict[Kind, str] = {
    "empty": " \n ",
    "oversized": "why? " * 10_000,
    "malformed": "half \ud800 a pair",
}
_PROCESS_ENDED = "the process that worked on it ended"

Following = AsyncIterator[Recorded[Event] | Live]


async def ask_broken(service: Antiphon, run: Run, injector: Injector) -> None:
    """Asks the plan's question like a caller, and notes the results in `run`."""
    loop = asyncio.get_running_loop()
    if run.scenario.goes_on:
        await service.store.open_conversation(CONVERSATION)
    began = loop.time()
    limit_s = PATIENCE * run.scenario.settings.deadline_s
    handle: Query | None = None
    try:
        async with asyncio.timeout(limit_s):
            handle = await _begin(service, run, injector)
            run.outcome = await _accompany(handle, run)
    except BadInputError as error:
        run.refused = str(error)
    except TimeoutError:
        run.error = f"no answer within {limit_s:g} s"
        if handle is not None:
            handle.cancel("nobody waits any longer")
    # Any other exception is a bug of the harness, and ends the run.
    except (ServiceError, RuntimeError, asyncio.CancelledError) as error:
        run.error = f"the caller got {type(error).__name__}: {error}"
    run.took_s = loop.time() - began
    if run.outcome is not None:
        run.stored = await _stored(service, run.outcome.query_id)


async def _begin(service: Antiphon, run: Run, injector: Injector) -> Query:
    """Starts the query, or resumes it if in its scenario the process died."""
    question = _question(run)
    if not run.scenario.resumed_after:
        begun = await service.start(question, injector)
        assert isinstance(begun, Query)  # the harness breaks what runs here
        return begun
    # The faults apply only from here on.
    query_id = await _interrupted(service, question, run.scenario.resumed_after)
    return await service.history.resume(query_id, _PROCESS_ENDED, injector)


def _question(run: Run) -> Question:
    text = QUESTIONS[run.plan.seed % len(QUESTIONS)]
    fault = run.injected.traverse("intake")
    if fault is not None:
        text = _WRONG_QUESTIONS[fault.kind]
    session_id = CONVERSATION if run.scenario.goes_on else None
    return Question(query=text, session_id=session_id, settings=run.scenario.settings)


async def _interrupted(service: Antiphon, question: Question, kind: str) -> str:
    """Stores a query whose trace ends after its first event of a kind, as if the process had been killed there."""
    handle = await service.start(question)
    outcome = await handle.outcome()
    # Under an id of its own, so that the whole query stays unchanged.
    query_id = uuid.uuid4().hex
    before_the_end: list[Recorded[Event]] = []
    for recorded in await service.store.read(outcome.query_id):
        before_the_end.append(replace(recorded, query_id=query_id))
        if recorded.event.kind_name() == kind:
            break
    await service.store.append(query_id, 0, before_the_end)
    return query_id


async def _accompany(handle: Query, run: Run) -> Outcome:
    """Waits like a caller, alongside a follower; leaves if the plan says so."""
    # Both begin to follow now, because the query may be over before this task's next turn.
    following = asyncio.create_task(_follow(handle, run.injected))
    leaving = asyncio.create_task(
        _note_or_leave(handle, handle.follow(buffer=LARGE_BUFFER), run)
    )
    try:
        return await handle.outcome()
    finally:
        # One more turn for noting the last delivered events.
        await asyncio.wait([leaving], timeout=0)
        leaving.cancel()
        following.cancel()
        await asyncio.gather(leaving, following, return_exceptions=True)


async def _stored(service: Antiphon, query_id: str) -> Sequence[Recorded[Event]]:
    try:
        return await service.store.read(query_id)
    except NotFoundError:
        return ()


async def _note_or_leave(handle: Query, events: Following, run: Run) -> None:
    """Notes each event; leaves when a round opens if the plan or the scenario says so."""
    async for event in events:
        if not isinstance(event, Recorded):
            continue
        run.trace.append(event)
        if not _opens_round(event):
            continue
        fault = run.injected.traverse("client")
        if fault is not None and fault.kind != "cancel":
            raise run.injected.error_of(fault, "client")
        if fault is not None or run.scenario.leaves:
            handle.cancel("the caller went away")


def _opens_round(event: Recorded[Event] | Live) -> TypeGuard[Recorded[RoundOpened]]:
    return isinstance(event, Recorded) and isinstance(event.event, RoundOpened)


def _follow(handle: Query, faults: QueryFaults) -> Coroutine[None, None, None]:
    """Follows the query from now on, as a follower that may itself be faulty."""
    fault = faults.traverse("follower")
    if fault is None:
        return _read(handle.follow(), None)
    if fault.kind not in ("hang", "slow", "cancel"):
        raise faults.error_of(fault, "follower")
    return _read(handle.follow(buffer=SMALL_BUFFER), fault)


async def _read(follower: Following, fault: Fault | None) -> None:
    """Reads to the end, or as the fault demands; in no case ends the query."""
    kind = fault.kind if fault is not None else None
    if kind == "hang":
        await asyncio.Event().wait()
    try:
        async for _ in follower:
            if kind == "cancel":
                return
            # Slower than the events, so that its buffer overflows.
            if kind is not None:
                await asyncio.sleep(1.0)
    except SlowReaderError:
        return


async def leave_as_planned(handle: Query, faults: QueryFaults, after: int = 0) -> None:
    """Follows a query to its end, and cancels it at the opening of a round at which a fault of `client` fires.

    Args:
        after: The last event from before the query was resumed or forked.
    """
    try:
        async for event in handle.follow(buffer=LARGE_BUFFER):
            if not _opens_round(event) or event.seq <= after:
                continue
            if faults.traverse("client") is not None:
                handle.cancel("injected: the caller went away")
    except (NotFoundError, SlowReaderError):
        return
