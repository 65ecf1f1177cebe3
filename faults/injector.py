"""Stands round one query and breaks what its plan names; notes every door passed and every fault that fired."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Sequence
from contextvars import ContextVar

from msgspec.structs import replace

from antiphon.bus import Components
from antiphon.coordinator import ProviderCircuit
from antiphon.dispatcher import Registry, ToolCircuits
from antiphon.faults.deliveries import Deliveries
from antiphon.faults.doors import Door
from antiphon.faults.model_door import FaultyModel
from antiphon.faults.passage import Meeting
from antiphon.faults.passed import passages
from antiphon.faults.plan import Fault, part_of
from antiphon.faults.reading import plan_of
from antiphon.faults.tool_door import faulty_tool
from antiphon.faults.works import faulty_spawn
from antiphon.service import Resources
from antiphon.vocabulary.errors import FaultPlanError, KnowledgeError, TraceError
from antiphon.vocabulary.events import Event, QueryClosed, QueryReceived, Recorded, RoundOpened
from antiphon.vocabulary.ports import Model, Ports, Subscription, TraceStore
from antiphon.vocabulary.values import StoredText

SHARED = ("intake", "client", "follower", "process", "library.", "embedder.")
"""Doors that belong to the harness's own callers, or to all queries."""

_meeting: ContextVar[Meeting | None] = ContextVar("fault_meeting", default=None)


def meeting_now() -> Meeting | None:
    """What is broken in the query that runs in this context; None in one that nobody breaks."""
    return _meeting.get()


class Injector:
    """Satisfies `service.Interceptor`: one for each query.

    Args:
        provider_open: The query is told that the provider's circuit is open.
        apart: What fails here on purpose does not open the circuits of other queries.
        primary: Stands in the place of the model that is asked first; None leaves the service's own.
    """

    def __init__(
        self,
        faults: Sequence[Fault] = (),
        *,
        provider_open: bool = False,
        apart: bool = False,
        primary: Model | None = None,
    ) -> None:
        self.meeting = Meeting(faults)
        self._faults = tuple(faults)
        self._provider_open = provider_open
        self._apart = apart
        self._primary = primary

    def __str__(self) -> str:
        return "; ".join(f"fault {fault.kind} at {fault.point}" for fault in self._faults)

    def recall(self, prefix: Sequence[Recorded[Event]], /) -> None:
        """Counts the doors that were passed before the query is gone on with."""
        for passed in passages(prefix):
            self.meeting.went_by(passed.point, passed.when)
        for recorded in prefix:
            self._note(recorded.event)
        self.meeting.stored_seq = len(prefix)

    def first(self, first: QueryReceived, /) -> QueryReceived:
        """The query's first event, as it is told."""
        return replace(first, provider_open=True) if self._provider_open else first

    def parts(self, parts: Resources, /) -> Resources:
        """The doors that the query's components are given, each with its faults."""
        meeting = self.meeting
        if self._apart:
            parts = dataclasses.replace(parts, provider_circuit=ProviderCircuit(), tool_circuits=ToolCircuits())
        models: dict[str, Model] = {
            name: FaultyModel(self._model(name, model), meeting, "model" if name == "primary" else name, parts.clock)
            for name, model in parts.models.items()
        }
        changed: dict[str, object] = {"models": models}
        changed["tools"] = Registry([faulty_tool(tool, meeting, parts.clock) for tool in parts.tools.tools])
        for field in dataclasses.fields(parts):
            value = getattr(parts, field.name)
            if field.name not in changed and is_port(value):
                changed[field.name] = Door(value, meeting, field.name, parts.clock, RuntimeError)
        return dataclasses.replace(parts, **changed)  # type: ignore[arg-type]  # a Door passes for what it wraps

    def store(self, store: TraceStore, /) -> TraceStore:
        door: TraceStore = Door(_Noting(store, self.meeting), self.meeting, "store", None, TraceError)
        return door

    def components(self, components: Components, /) -> Components:
        """The query's components, with faults in all that they say, hear and start."""

        def build(ports: Ports) -> Sequence[Subscription]:
            deliveries = Deliveries(self.meeting, ports.publish, self._note)
            around = Ports(
                publish=deliveries.publish, emit_live=ports.emit_live, spawn=faulty_spawn(ports.spawn, self.meeting)
            )
            _meeting.set(self.meeting)
            return [deliveries.subscription(each) for each in components(around)]

        return build

    def _model(self, name: str, model: Model) -> Model:
        return self._primary if self._primary is not None and name == "primary" else model

    def _note(self, event: Event) -> None:
        self.meeting.closing = self.meeting.closing or isinstance(event, QueryClosed)
        if isinstance(event, RoundOpened):
            self.meeting.when = part_of(event)


def is_port(value: object) -> bool:
    """Whether a part of the service is something with methods that can be broken."""
    return value is not None and not isinstance(value, StoredText | tuple) and not inspect.isroutine(value)


class _Noting:
    """A trace store that notes how far it has come."""

    def __init__(self, inner: TraceStore, meeting: Meeting) -> None:
        self._inner = inner
        self._meeting = meeting

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)

    async def append(self, query_id: str, expected_seq: int, events: Sequence[Recorded[Event]]) -> None:
        await self._inner.append(query_id, expected_seq, events)
        self._meeting.stored_seq = events[-1].seq


def around_of(data: object) -> Injector:
    """What stands round a query by the fault plan that its caller sent; its scenario and seed are the harness's own.

    Raises:
        FaultPlanError: It is no fault plan, or one that nothing would come of here.
    """
    faults = plan_of(data).faults
    for fault in faults:
        if fault.point.startswith(SHARED):
            raise FaultPlanError(
                f"Nothing can be broken at {fault.point[:60]!r} in a running service: "
                "it is not this query's own. `antiphon faults run --plan` breaks it."
            )
    return Injector(faults, apart=True)


class SharedDoor:
    """Something that all queries share, broken only for the query that is to be broken."""

    def __init__(self, inner: object, prefix: str) -> None:
        self._inner = inner
        self._prefix = prefix

    def __getattr__(self, name: str) -> object:
        meeting = meeting_now()
        if meeting is None:
            return getattr(self._inner, name)
        error = KnowledgeError if self._prefix == "library" else RuntimeError
        return getattr(Door(self._inner, meeting, self._prefix, None, error), name)
