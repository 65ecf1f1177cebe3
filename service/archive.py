"""Exports, imports and deletes recorded queries, and turns them into regression tests; checks filters of lists."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import get_args

from msgspec.structs import replace
from rapidfuzz import fuzz, process

from antiphon.assembler import DOUBTS
from antiphon.composition import Settings, catalog_of, redaction_of
from antiphon.history import trace_test
from antiphon.history.foreign import ImportedFile, read_foreign
from antiphon.traces import (
    Redaction,
    feedback_of_file,
    read_trace_file,
    trace_file,
)
from antiphon.vocabulary.catalog import Catalog
from antiphon.vocabulary.errors import (
    BadInputError,
    DecodeError,
    SequenceError,
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
"""Conditions of a listing with a fixed set of values."""
NEAR_ENOUGH = 60
"""Least likeness, in per cent, at which a name counts as a typing error for another."""

HEAD_BYTES = 100
NAMED_CHARS = 8
"""Characters of the id in the name of a test."""


class RegressionTest(Value, frozen=True, kw_only=True):
    """A test that replays a trace: two files for the same folder, each as its name and its text."""

    trace_name: str
    trace: str
    test_name: str
    test: str


def read_import(data: bytes, catalog: Catalog, redaction: Redaction) -> ImportedFile:
    """Reads a file of traces, each checked as a whole: half a trace must not get in.

    Raises:
        BadInputError: It holds no usable trace.
    """
    # Our own files begin with this name; recognising any other form takes the whole file.
    if b'"antiphon_trace"' not in data[:HEAD_BYTES]:
        return read_foreign(data, time.time(), redaction)
    try:
        return ImportedFile(
            [read_trace_file(data, catalog)], (), feedback_of_file(data)
        )
    except DecodeError as error:
        raise BadInputError(f"This is no sound trace file: {error}.") from error


async def store_import(store: TraceStore, read: ImportedFile) -> ImportedFile:
    """Stores the traces of a file; of several, it reports those that exist already and stores the others.

    Raises:
        SequenceError: The file's only trace exists already.
    """
    stored: list[Sequence[Recorded[Event]]] = []
    refused = list(read.refused)
    for events in read.queries:
        try:
            await store.add(events)
        except SequenceError as error:
            if len(read.queries) == 1:
                raise
            refused.append(str(error))
            continue
        stored.append(events)
        if read.feedback is not None:
            await store.annotations.set_feedback(events[0].query_id, read.feedback)
    return read._replace(queries=stored, refused=refused)


def check_filter(where: TraceFilter) -> None:
    """Refuses a condition that no trace can meet.

    Raises:
        BadInputError: A value is unknown; the message names the nearest one.
    """
    for name, known in FILTER_VALUES.items():
        value = getattr(where, name)
        if value is None or value in known:
            continue
        raise BadInputError(
            f"`{name}` is {value[:40]!r}, it must be one of {', '.join(known)}{nearest(value, known)}."
        )


def nearest(name: str, known: Iterable[str]) -> str:
    """Returns words that suggest the known name most like `name`; an empty text if no name is like it."""
    found = process.extractOne(
        name[:80], known, scorer=fuzz.ratio, score_cutoff=NEAR_ENOUGH
    )
    if found is None:
        return ""
    return f" (did you mean `{found[0]}`?)"


class Archive:
    """Export, import and deletion of a service's recorded queries.

    Args:
        running: The ids of the queries that run in this process.
        stored_as: Returns the id under which to store a trace from a file.
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
        """Returns a trace as a file of JSON lines, with a hash over all of it. Raises as reading the trace does."""
        events = await self._store.read(query_id)
        feedback = await self._store.annotations.feedback(query_id)
        return trace_file(events, feedback)

    async def add(self, file: bytes) -> ImportedFile:
        """Stores the traces of a file in our own form, or in a supported form of another program.

        Returns:
            The stored traces, and the refused ones with the reasons.

        Raises:
            BadInputError: It is incomplete or damaged, or holds no readable trace.
            SequenceError: Its only trace has an id that exists already.
        """
        # In a thread: a large file takes seconds, in which the event loop must serve queries.
        read = await asyncio.to_thread(
            read_import,
            file,
            catalog_of(self._subscribers),
            redaction_of(self._settings),
        )
        queries: list[Sequence[Recorded[Event]]] = []
        for events in read.queries:
            stored_as = self.id_of(events[0].query_id)
            queries.append([replace(each, query_id=stored_as) for each in events])
        return await store_import(self._store, read._replace(queries=queries))

    async def regression_test(self, query_id: str) -> RegressionTest:
        """Builds a test that replays a trace.

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
        """Deletes a trace, and the texts that no other trace holds.

        Raises:
            NotFoundError: No such trace.
            TraceStateError: The query is being worked on.
        """
        self._check_idle(query_id)
        events = await self._store.read(query_id)
        # Another process may work on it; this one takes over a trace that nobody works on.
        if not isinstance(events[-1].event, QueryClosed):
            await self._store.take_over(query_id)
        await self._store.delete([query_id])

    async def delete_conversation(self, session_id: str) -> int:
        """Deletes a conversation with its traces, and returns their number.

        Raises:
            NotFoundError: No such conversation.
        """
        return await self._store.delete_conversation(session_id)

    def _check_idle(self, query_id: str) -> None:
        if query_id in self._running:
            raise TraceStateError(
                f"query {query_id} is being worked on: cancel it first, or wait for its end"
            )
