"""Recorded queries as files and as regression tests, imported and deleted; the values that they are listed by."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import get_args

from msgspec.structs import replace
from rapidfuzz import fuzz, process

from antiphon.assembler import DOUBTS
from antiphon.composition import Settings, catalog_of
from antiphon.history import trace_test
from antiphon.traces import feedback_of_file, read_trace_file, trace_file
from antiphon.vocabulary.errors import (
    BadInputError,
    DecodeError,
    TraceStateError,
)
from antiphon.vocabulary.events import (
    Confidence,
    Event,
    QueryClosed,
    Recorded,
    Status,
)
from antiphon.vocabulary.feedback import Rating
from antiphon.vocabulary.ports import TraceFilter, TraceStore
from antiphon.vocabulary.subscribers import Subscriber
from antiphon.vocabulary.values import Value

FILTER_VALUES: Mapping[str, tuple[str, ...]] = {
    "status": ("open", *get_args(Status)),
    "confidence": get_args(Confidence),
    "indicator": tuple(DOUBTS),
    "feedback": (*get_args(Rating), "any", "none"),
}
"""Conditions of a listing that have few values."""
NEAR_ENOUGH = 60
"""Likeness in per cent from which on a name is taken for another one mistyped."""

NAMED_CHARS = 8
"""Characters of an id in the name of its test."""


class RegressionTest(Value, frozen=True, kw_only=True):
    """A test that replays a trace: the two files that belong side by side, each as its name and its text."""

    trace_name: str
    trace: str
    test_name: str
    test: str


def check_filter(where: TraceFilter) -> None:
    """Refuses a condition that no trace can meet.

    Raises:
        BadInputError: A value is none that there is; the message names the nearest.
    """
    for name, known in FILTER_VALUES.items():
        value = getattr(where, name)
        if value is None or value in known:
            continue
        raise BadInputError(
            f"`{name}` is {value[:40]!r}, it must be one of {', '.join(known)}{nearest(value, known)}."
        )


def nearest(name: str, known: Iterable[str]) -> str:
    """Returns words that suggest the known name which is most like `name`; none if none is like it."""
    found = process.extractOne(
        name[:80], known, scorer=fuzz.ratio, score_cutoff=NEAR_ENOUGH
    )
    if found is None:
        return ""
    return f" (did you mean `{found[0]}`?)"


class Archive:
    """The recorded queries of a service, as what can be kept, given away and thrown away.

    Args:
        running: The ids of the queries that run in this process.
        stored_as: Returns the id under which a trace is stored that comes from a file.
    """

    def __init__(
        self,
        store: TraceStore,
        settings: Settings,
        subscribers: Sequence[Subscriber],
        running: Container[str],
        stored_as: Callable[[str], str] = str,
    ) -> None:
        self._store = store
        self._settings = settings
        self._subscribers = subscribers
        self._running = running
        self.id_of = stored_as

    async def export(self, query_id: str) -> bytes:
        """Returns a trace as a file of JSON lines, with a hash over all of it. Raises as reading it does."""
        events = await self._store.read(query_id)
        feedback = await self._store.annotations.feedback(query_id)
        return trace_file(events, feedback)

    async def add(self, file: bytes) -> Sequence[Recorded[Event]]:
        """Stores the trace of such a file, which is checked as a whole first: half a trace must not get in.

        Raises:
            BadInputError: It is not whole and sound.
            SequenceError: There is a trace of that id.
        """
        # Seconds for a large one, in which the loop has queries to serve.
        try:
            events = await asyncio.to_thread(
                read_trace_file, file, catalog_of(self._subscribers)
            )
            feedback = feedback_of_file(file)
        except DecodeError as error:
            raise BadInputError(f"This is no sound trace file: {error}.") from error
        stored_as = self.id_of(events[0].query_id)
        if stored_as != events[0].query_id:
            events = [replace(each, query_id=stored_as) for each in events]
        await self._store.add(events)
        if feedback is not None:
            await self._store.annotations.set_feedback(stored_as, feedback)
        return events

    async def regression_test(self, query_id: str) -> RegressionTest:
        """Makes a test that replays a trace.

        Raises:
            BadInputError: The trace has no answer, or would not replay.
        """
        events = await self._store.read(query_id)
        forms = await self._store.forms(query_id)
        name = f"trace_{query_id[:NAMED_CHARS]}"
        data, test = await asyncio.to_thread(
            trace_test, events, name, (), self._settings.subscribers, forms
        )
        return RegressionTest(
            trace_name=f"{name}.jsonl",
            trace=data.decode(),
            test_name=f"test_{name}.py",
            test=test,
        )

    async def delete(self, query_id: str) -> None:
        """Deletes a trace, with the texts that no other holds.

        Raises:
            NotFoundError: No such trace.
            TraceStateError: The query is being worked on.
        """
        self._check_idle(query_id)
        events = await self._store.read(query_id)
        # Another process may be at work on it; one that nobody works on is taken over by this.
        if not isinstance(events[-1].event, QueryClosed):
            await self._store.take_over(query_id)
        await self._store.delete([query_id])

    async def delete_conversation(self, session_id: str) -> int:
        """Deletes a conversation with its traces, and returns how many there were.

        Raises:
            NotFoundError: No such conversation.
        """
        return await self._store.delete_conversation(session_id)

    def _check_idle(self, query_id: str) -> None:
        if query_id in self._running:
            raise TraceStateError(
                f"query {query_id} is being worked on: cancel it first, or wait for its end"
            )
