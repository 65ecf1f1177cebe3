"""The deciding parts of one query without anything that acts: what replay, resume and fork fold a trace with."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, NoReturn, cast

from antiphon.assembler import ResponseAssembler
from antiphon.bus import Handler, Ports, Subscription
from antiphon.composition.caller import Caller
from antiphon.composition.wiring import Resources, wire
from antiphon.coordinator import QueryCoordinator
from antiphon.synthesizer import ContextSynthesizer
from antiphon.vocabulary.errors import TraceError
from antiphon.vocabulary.events import AnyEvent, Event, HandlerFailed, Recorded

DECIDERS = (QueryCoordinator, ContextSynthesizer, ResponseAssembler)
"""Their state is a fold over events; they meet no clock, no random source and no I/O."""


class Said(NamedTuple):
    """An event as a deciding part said it, and the `seq` of the event that it was handling."""

    cause: int
    event: AnyEvent


class Raised(NamedTuple):
    """A handler that raised, and what."""

    handler: str
    error: Exception


class Closed:
    """A door to the outside that is shut: it can be handed on, and any use of it is an error."""

    def __getattr__(self, name: str) -> Closed:
        return self

    def __call__(self, *_args: object, **_named: object) -> NoReturn:
        self._refuse()

    def __iter__(self) -> Iterator[object]:
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise TraceError("a replay tried to act: a deciding part reached for a model, a tool, the index or the clock")


class DecidingParts:
    """The deciding parts of one query; what they say is kept in `said`, in order, until it is taken.

    Args:
        subscriptions: Who hears what; None builds the parts over doors that are shut.
        said: Where they publish to; None with `subscriptions` None.
    """

    def __init__(self, subscriptions: Sequence[Subscription] | None = None, notebook: Notebook | None = None) -> None:
        self._notebook = notebook or Notebook()
        self._handlers: dict[type[Event], list[Handler]] = {}
        self.components: dict[str, object] = {}
        for kind, handler in subscriptions or closed_wiring(self._notebook):
            owner = owner_of(handler)
            if isinstance(owner, DECIDERS):
                self._handlers.setdefault(kind, []).append(handler)
                self.components[type(owner).__name__] = owner

    @property
    def said(self) -> deque[Said]:
        """What they said and nobody has taken yet."""
        return self._notebook.said

    def hear(self, recorded: Recorded[Event], failed: frozenset[str] = frozenset()) -> list[Raised]:
        """Delivers one event.

        Args:
            failed: Handlers (`Class.method`) that failed at this event when it was recorded: they fail again.

        Returns: Those that raised now and did not then.
        """
        raised: list[Raised] = []
        self._notebook.cause = recorded.seq
        for handler in self._handlers.get(type(recorded.event), ()):
            name = str(getattr(handler, "__qualname__", ""))
            if name in failed:
                self._fail_again(handler, recorded)
                continue
            try:
                handler(recorded)
            except Exception as error:  # noqa: BLE001 - the bus edge of a replay: what is raised is the finding
                raised.append(Raised(name, error))
        return raised

    def _fail_again(self, handler: Handler, recorded: Recorded[Event]) -> None:
        """A handler that failed: whatever made it fail then may not be there now, so it is undone if it does not."""
        owner = owner_of(handler)
        state, said = dict(vars(owner)), len(self.said)
        try:
            handler(recorded)
        except Exception:  # noqa: BLE001 - it failed as it had failed
            return
        vars(owner).update(state)
        while len(self.said) > said:
            self.said.pop()


class Notebook:
    """A `Publish` that writes down what is said, and while handling what."""

    def __init__(self) -> None:
        self.cause = 0
        self.said: deque[Said] = deque()

    def __call__(self, event: AnyEvent, /) -> None:
        self.said.append(Said(self.cause, event))


def closed_wiring(notebook: Notebook) -> Sequence[Subscription]:
    """The one table of who hears what, over doors that are shut."""
    closed: Any = Closed()
    return wire(cast(Resources, closed), Ports(publish=notebook, tell=closed, spawn=closed), Caller())


def who_hears() -> Sequence[Subscription]:
    """The one table of who hears what, to be read and not to be called."""
    return closed_wiring(Notebook())


def owner_of(handler: Handler) -> object:
    """The component whose method a handler is, under whatever was wrapped round it."""
    inner: object = handler
    while hasattr(inner, "__wrapped__"):
        inner = inner.__wrapped__
    return getattr(inner, "__self__", None)


def failures_by_event(events: Sequence[Recorded[AnyEvent]]) -> dict[int, frozenset[str]]:
    """For each event at which handlers failed, their names."""
    found: dict[int, set[str]] = {}
    for recorded in events:
        if isinstance(recorded.event, HandlerFailed):
            found.setdefault(recorded.event.event_seq, set()).add(recorded.event.handler)
    return {seq: frozenset(names) for seq, names in found.items()}
