"""What the components of a query hear: tables of their methods, which all queries of a process share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, overload

from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.ports import Handler, Subscription

MethodOf = Callable[[Any, Recorded[Any]], None]
"""A component's method: it is called with the component and the event."""


class Method(NamedTuple):
    """A method that hears one kind of event, of a component that is known by its place alone.

    Attributes:
        owner: The component's place among those of its query.
        name: As `Subscription.name`.
        repeat: As `Subscription.repeat`.
    """

    kind: type[Event]
    owner: int
    call: MethodOf
    name: str
    repeat: MethodOf | None = None

    def bound(self, components: Sequence[object]) -> Subscription:
        """Returns the subscription of one query's component."""
        owner = components[self.owner]
        repeat: Handler | None = None
        if self.repeat is not None:
            repeat = partial(self.repeat, owner)
        return Subscription(self.kind, partial(self.call, owner), self.name, repeat)


class MethodTable:
    """Methods in the order in which an event reaches them."""

    def __init__(self, methods: Iterable[Method]) -> None:
        self.in_order = tuple(methods)
        by_kind: dict[type[Event], list[Method]] = {}
        for method in self.in_order:
            by_kind.setdefault(method.kind, []).append(method)
        self._by_kind = by_kind

    def hearing(self, kind: type[Event]) -> Sequence[Method]:
        """Returns the methods that hear such an event."""
        return self._by_kind.get(kind, ())

    def behind(self, others: MethodTable, components: int) -> MethodTable:
        """Returns a table with these methods behind others, whose components come first and are so many."""
        moved = [
            method._replace(owner=method.owner + components) for method in self.in_order
        ]
        return MethodTable((*others.in_order, *moved))


class Hearing(Sequence[Subscription]):
    """The subscriptions of one query; those of its own components are made of a table where somebody asks for them.

    Fifty subscriptions, each with its handler, were an eighth of the memory that a waiting query holds.

    Attributes:
        components: The components, in the places that the table names.
        further: Subscriptions of others, behind them.
    """

    def __init__(
        self,
        table: MethodTable,
        components: Sequence[object],
        further: Sequence[Subscription] = (),
    ) -> None:
        self.table = table
        self.components = tuple(components)
        self.further = tuple(further)

    def __len__(self) -> int:
        return len(self.table.in_order) + len(self.further)

    def __iter__(self) -> Iterator[Subscription]:
        for method in self.table.in_order:
            yield method.bound(self.components)
        yield from self.further

    @overload
    def __getitem__(self, index: int) -> Subscription: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Subscription]: ...

    def __getitem__(self, index: int | slice) -> Subscription | Sequence[Subscription]:
        return tuple(self)[index]
