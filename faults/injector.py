"""The interceptor that breaks one query by its plan, and notes each traversed point and each fault that fired."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Mapping, Sequence

from antiphon.bus import Components
from antiphon.dispatcher import Registry
from antiphon.faults.plan import Fault, Kind, part_of
from antiphon.faults.plan_files import parse_plan
from antiphon.faults.ports.calls import FaultyModel, faulty_tool
from antiphon.faults.ports.deliveries import FaultyDelivery, faulty_spawn
from antiphon.faults.ports.injection import FaultyPort, QueryFaults, query_faults
from antiphon.faults.ports.recorded import model_prefix, traversals
from antiphon.service import Resources, performed_here
from antiphon.vocabulary.errors import FaultPlanError, TraceError
from antiphon.vocabulary.events import Event, QueryClosed, Recorded, RoundOpened
from antiphon.vocabulary.ports import Model, Ports, QueryStore, Subscription
from antiphon.vocabulary.values import StoredText

NOT_OF_A_QUERY = ("intake", "client", "follower", "process", "library.", "embedder.")
"""Prefixes of points that belong to the harness's own callers or to all queries."""
_OF_EVERY_QUERY: Mapping[Kind, str] = {
    "block": "stops every query of a running service",
    "stuck": "keeps a thread of a running service long after its query",
}
"""Kinds of faults that would affect other queries, and how."""


class Injector:
    """Satisfies `service.Interceptor`; one for each query.

    Args:
        provider_open: Makes the query see the provider's circuit as open.
        apart: Keeps the injected failures from opening the circuits of other queries.
        primary: Replaces the primary model; None: keeps the service's own.

    Attributes:
        injected: The faults and their effects.
    """

    def __init__(
        self,
        faults: Sequence[Fault] = (),
        *,
        provider_open: bool = False,
        apart: bool = False,
        primary: Model | None = None,
    ) -> None:
        self.injected = QueryFaults(faults)
        self._faults = tuple(faults)
        self.provider_open = provider_open
        self._apart = apart
        self._primary = primary
        self._prefix: Sequence[Recorded[Event]] = ()

    @property
    def faults(self) -> tuple[str, ...]:
        """The faults in words."""
        return tuple([f"fault {fault.kind} at {fault.point}" for fault in self._faults])

    def recall(self, prefix: Sequence[Recorded[Event]], /) -> None:
        """Takes in the events from before the query is resumed or forked."""
        self._prefix = prefix
        # The recorded events determine the part of the query in which it resumes.
        for recorded in prefix:
            self._note(recorded.event)
        # All of it is in the store already.
        self.injected.stored_seq = len(prefix)

    def resources(self, resources: Resources, /) -> Resources:
        """Returns the query's ports, each with its faults."""
        if self._apart:
            resources = resources.with_own_circuits()
        clock = resources.clock
        tools = [
            faulty_tool(tool, self.injected, clock) for tool in resources.tools.tools
        ]
        changed: dict[str, object] = {
            "models": self._faulty_models(resources),
            "tools": Registry(tools),
            # The faults are only in this process, so it must perform all requests. Keeps an outside of the user's own.
            "outside": performed_here(resources.outside),
        }
        # Breaks all other objects with methods without naming them, so that new ports are included.
        for field in dataclasses.fields(resources):
            value = getattr(resources, field.name)
            if field.name not in changed and is_port(value):
                changed[field.name] = FaultyPort(
                    value, self.injected, field.name, clock, RuntimeError
                )
        return dataclasses.replace(resources, **changed)  # type: ignore[arg-type]  # a port acts as what it wraps

    def store(self, store: QueryStore, /) -> QueryStore:
        """Returns the store, with faults."""
        port: QueryStore = FaultyPort(
            _ObservedStore(store, self.injected),
            self.injected,
            "store",
            None,
            TraceError,
        )
        return port

    def components(self, components: Components, /) -> Components:
        """Returns the query's components with faults in the events that they publish and get, and in their work."""

        def build(ports: Ports) -> Sequence[Subscription]:
            # Set in the query's own context, in which shared ports look up whose call it is.
            query_faults.set(self.injected)
            delivery = FaultyDelivery(self.injected, ports.publish, self._note)
            faulty = Ports(
                publish=delivery.publish,
                emit_live=ports.emit_live,
                spawn=faulty_spawn(ports.spawn, self.injected),
                followed=ports.followed,
                stored=ports.stored,
                past=ports.past,
            )
            subscriptions = components(faulty)
            # Not before the subscriptions are known, but before any event is delivered.
            self._count_past(subscriptions)
            return list(map(delivery.subscription, subscriptions))

        return build

    def _count_past(self, subscriptions: Sequence[Subscription]) -> None:
        """Counts the traversals from before the query is resumed or forked, without firing faults."""
        hearers = [
            (subscription.kind, subscription.name) for subscription in subscriptions
        ]
        for traversal in traversals(self._prefix, hearers):
            self.injected.count_past(traversal.point, traversal.when)

    def _faulty_models(self, resources: Resources) -> dict[str, Model]:
        models = dict(resources.models)
        if self._primary is not None:
            models["primary"] = self._primary
        return {
            name: FaultyModel(model, self.injected, model_prefix(name), resources.clock)
            for name, model in models.items()
        }

    def _note(self, event: Event) -> None:
        if isinstance(event, QueryClosed):
            self.injected.closing = True
        elif isinstance(event, RoundOpened):
            self.injected.part = part_of(event)


def is_port(value: object) -> bool:
    """Returns True if a resource of the service has methods that can be broken."""
    # Texts, numbers, tuples and functions are settings of the service, not ports.
    if value is None or isinstance(value, str | StoredText | tuple | float):
        return False
    return not inspect.isroutine(value)


class _ObservedStore:
    """A trace store that notes the last event that it has stored."""

    def __init__(self, inner: QueryStore, faults: QueryFaults) -> None:
        self._inner = inner
        self._faults = faults

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)

    async def append(
        self, query_id: str, expected_seq: int, events: Sequence[Recorded[Event]]
    ) -> None:
        await self._inner.append(query_id, expected_seq, events)
        self._faults.stored_seq = events[-1].seq


def injector_of(data: object) -> Injector:
    """Makes the injector for a caller's fault plan, ignoring scenario and seed, which only the harness uses.

    Raises:
        FaultPlanError: It is not a fault plan, or one that cannot be carried out here.
    """
    faults = parse_plan(data).faults
    for fault in faults:
        if fault.point.startswith(NOT_OF_A_QUERY):
            raise FaultPlanError(
                f"Nothing can be broken at {fault.point[:60]!r} in a running service: "
                "it is not this query's own. `antiphon faults run --plan` breaks it."
            )
        if fault.kind in _OF_EVERY_QUERY:
            raise FaultPlanError(
                f"`{fault.kind}` {_OF_EVERY_QUERY[fault.kind]}: `antiphon faults run --plan` tries it."
            )
    return Injector(faults, apart=True)
