"""Begins the query that is to be broken, or goes on with it where its scenario says that its process had died."""

from __future__ import annotations

import uuid

from msgspec.structs import replace

from antiphon.faults.scenarios import Scenario
from antiphon.service import Antiphon, Interceptor, QueryHandle, Question

DIED = "the process that worked on it ended"


async def begin(service: Antiphon, question: Question, scenario: Scenario, around: Interceptor) -> QueryHandle:
    """The query under way; only what happens from here on happens within `around`."""
    if not scenario.resumed_after:
        return await service.start(question, around)
    return await service.history.resume(await _left_behind(service, question, scenario.resumed_after), DIED, around)


async def _left_behind(service: Antiphon, question: Question, kind: str) -> str:
    """A query whose trace ends after its first event of a kind, as a process leaves it that is killed there."""
    outcome = await (await service.start(question)).outcome()
    events = await service.store.read(outcome.query_id)
    last = next(said.seq for said in events if said.event.__struct_config__.tag == kind)
    query_id = uuid.uuid4().hex
    await service.store.append(query_id, 0, [replace(said, query_id=query_id) for said in events[:last]])
    return query_id
