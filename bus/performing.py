"""Has the outside perform the requests of a query's components, and stops those that they abandon."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from antiphon.vocabulary.events import CallsAbandoned, Event, Recorded
from antiphon.vocabulary.performing import Command, Outside, Run
from antiphon.vocabulary.ports import Past, Subscription


class Performing:
    """The subscriptions of one query's outside.

    Args:
        performed: The requests, each with the name of the part that performs it; failures are recorded, and faults
            injected, under this name.
        past: Returns the events of the query so far.
    """

    def __init__(
        self, outside: Outside, performed: Mapping[type[Event], str], past: Past
    ) -> None:
        self._outside = outside
        self._performed = performed
        self._past = past
        self._runs: dict[tuple[type[Event], str | int], Run] = {}

    def subscriptions(self) -> Iterator[Subscription]:
        """Yields a subscription to every request, and one to `CallsAbandoned`."""
        for kind, part in self._performed.items():
            name = _handler_name(part, kind)
            yield Subscription(kind, self.perform, name, self.perform_again)
        name = _handler_name(type(self).__name__, CallsAbandoned)
        yield Subscription(CallsAbandoned, self.abandon, name)

    def perform(self, recorded: Recorded[Event]) -> None:
        """Has a request performed."""
        self._begin(Command(recorded, self._past()))

    def perform_again(self, recorded: Recorded[Event]) -> None:
        """Has a request performed again that was under way when the query was interrupted."""
        self._begin(Command(recorded, self._past(), again=True))

    def abandon(self, recorded: Recorded[CallsAbandoned]) -> None:
        """Stops those of the calls that are still running."""
        for call_id in recorded.event.call_ids:
            # The model chooses the ids of tool calls, and may choose the id of one of its own calls: both are stopped.
            for kind in self._performed:
                run = self._runs.pop((kind, call_id), None)
                if run is not None:
                    run.abandon(recorded.event.why)

    def _begin(self, command: Command) -> None:
        run = self._outside.perform(command)
        if run is not None:
            event = command.request.event
            self._runs[type(event), event.subject()] = run


def _handler_name(part: str, kind: type[Event]) -> str:
    """Returns the name of a part's handler: `Part.on_event_kind`."""
    return f"{part}.on_{kind.kind_name()}"
