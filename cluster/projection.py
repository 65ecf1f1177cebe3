"""A node's own list of traces, in a local file, brought up to the stream before it is read (decision 213)."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import structlog

from antiphon.cluster.connection import Cluster
from antiphon.cluster.messages import IMPORTED, seqs_of, tenant_of
from antiphon.cluster.stream_reading import (
    StoredMessage,
    StreamReader,
    StreamState,
)
from antiphon.cluster.streams import Naming, text_of
from antiphon.cluster.trace_log import TraceLog
from antiphon.traces import (
    TraceIndex,
    TracePart,
    clear_conversation_at,
    forget_conversation,
    index_part,
    merge_words,
    open_conversation,
    remove_everything,
    remove_trace,
)
from antiphon.vocabulary.errors import DecodeError

log = structlog.get_logger(__name__)

FILE_NAME = "traces-of-cluster.sqlite"
AT_ONCE = 200
"""Messages that are added in one transaction."""

_TABLES = """
CREATE TABLE IF NOT EXISTS progress (
    number INTEGER PRIMARY KEY CHECK (number = 1), incarnation TEXT NOT NULL, seq INTEGER NOT NULL,
    messages INTEGER NOT NULL, missing INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS subjects (
    subject TEXT NOT NULL PRIMARY KEY, messages INTEGER NOT NULL, stored_at REAL NOT NULL
) WITHOUT ROWID;
"""
_ADD_TO_SUBJECT = """
    INSERT INTO subjects VALUES (?, 1, ?)
        ON CONFLICT DO UPDATE SET messages = messages + 1, stored_at = excluded.stored_at
"""
_SET_PROGRESS = "INSERT OR REPLACE INTO progress VALUES (1, ?, ?, ?, ?)"
_FORGET_SUBJECT = "DELETE FROM subjects WHERE subject = ? RETURNING messages"
_EMPTY_CONVERSATIONS = """
    SELECT session_id FROM conversations
        WHERE NOT EXISTS (SELECT 1 FROM queries WHERE queries.session_id = conversations.session_id)
"""

CONVERSATION = "Antiphon-Conversation"
"""The header that says what became of a conversation: `opened` or `cleared`."""


class Progress(NamedTuple):
    """How far the file has come.

    Attributes:
        seq: The place in the stream up to which everything was added.
        messages: Those that were added and not removed.
        missing: Messages by which the file and the stream were found to differ when they were last compared.
    """

    incarnation: str
    seq: int = 0
    messages: int = 0
    missing: int = 0


class _Step(NamedTuple):
    """A message as it is added.

    Attributes:
        part: The events that it holds; None for a message of a conversation, or one that is none of ours.
    """

    message: StoredMessage
    part: TracePart | None


class Projection:
    """The list, filled when it is asked for; processes of one machine share the file."""

    def __init__(
        self, cluster: Cluster, trace_log: TraceLog, folder: Path, key: str | None
    ) -> None:
        self._cluster = cluster
        self._log = trace_log
        self._path = folder / FILE_NAME
        self._key = key
        self._naming = cluster.naming
        self._reader = StreamReader(cluster, cluster.naming.traces_stream)
        self._index: TraceIndex | None = None
        self._turn = asyncio.Lock()

    async def index(self) -> TraceIndex:
        """Opens the file, and returns it when it holds all that was stored before this call.

        Raises:
            ConfigurationError: The file cannot be used.
            TraceError: The servers do not answer, or the file cannot be written.
        """
        async with self._turn:
            # Who waited here may find what it needs: but what was stored while it waited is asked for again.
            if self._index is None:
                self._index = await asyncio.to_thread(TraceIndex, self._path, self._key)
                await self._index.write(_make_tables)
            await self._catch_up(self._index)
            return self._index

    async def removed(self, subjects: Sequence[str]) -> None:
        """Removes what was deleted here, and what is left of its words.

        Raises:
            TraceError: The file cannot be written.
        """
        if self._index is not None:
            await self._index.write(partial(_remove, subjects=subjects))
            await self._index.write(merge_words)

    def close(self) -> None:
        """Closes the file."""
        if self._index is not None:
            self._index.close()
            self._index = None

    async def _catch_up(self, index: TraceIndex) -> None:
        state = await self._reader.state()
        progress = await index.write(_read_progress)
        # Another stream, or one that has lost its end with the power.
        if progress.incarnation != state.incarnation or progress.seq > state.last_seq:
            await index.write(_begin_anew)
            progress = Progress(state.incarnation)
        if progress.seq < state.last_seq:
            progress = await self._add(index, progress, state)
        # Another node has deleted traces since the two were compared, or an older one was compared with.
        if progress.messages + progress.missing != state.messages:
            await self._compare(index, state)

    async def _add(
        self, index: TraceIndex, progress: Progress, state: StreamState
    ) -> Progress:
        steps: list[_Step] = []
        everything = f"{self._naming.prefix}.>"
        first = progress.seq + 1
        async for message in self._reader.between(everything, first, state.last_seq):
            steps.append(await self._step_of(message))
            if len(steps) == AT_ONCE:
                reached = progress._replace(seq=message.seq)
                await index.write(partial(_add_steps, steps=steps, reached=reached))
                steps = []
        reached = progress._replace(seq=state.last_seq)
        return await index.write(partial(_add_steps, steps=steps, reached=reached))

    async def _step_of(self, message: StoredMessage) -> _Step:
        query_id = _trace_in(message.subject)
        if query_id is None or not seqs_of(message)[0]:
            return _Step(message, None)
        try:
            payload = await self._log.payload_of(message, query_id)
        except DecodeError as error:
            log.warning("trace_not_listed", query_id=query_id, error=str(error))
            return _Step(message, None)
        part = TracePart(
            query_id,
            payload.rows(query_id),
            message.seq,
            tenant_of(message.headers),
            IMPORTED in message.headers,
        )
        return _Step(message, part)

    async def _compare(self, index: TraceIndex, state: StreamState) -> None:
        """Removes what the stream does not hold any more."""
        there = await self._reader.subjects(f"{self._naming.prefix}.>")
        compare = partial(_remove_others, there=there, naming=self._naming)
        await index.write(compare)
        await index.write(partial(_note_missing, messages=state.messages))


def _make_tables(connection: sqlite3.Connection) -> None:
    for statement in _TABLES.split(";"):
        connection.execute(statement)


def _read_progress(connection: sqlite3.Connection) -> Progress:
    row = connection.execute(
        "SELECT incarnation, seq, messages, missing FROM progress"
    ).fetchone()
    if row is None:
        return Progress("")
    return Progress(*row)


def _begin_anew(connection: sqlite3.Connection) -> None:
    remove_everything(connection)
    connection.execute("DELETE FROM subjects")
    connection.execute("DELETE FROM progress")


def _add_steps(
    connection: sqlite3.Connection, steps: Sequence[_Step], reached: Progress
) -> Progress:
    """Adds messages; returns how far the file has come."""
    held = _read_progress(connection)
    if held.incarnation != reached.incarnation:
        held = Progress(reached.incarnation)
    # Another process of this machine may have added some of them meanwhile.
    new = [step for step in steps if step.message.seq > held.seq]
    connection.execute(_SET_PROGRESS, held._replace(seq=max(held.seq, reached.seq)))
    for message, part in new:
        if part is None:
            _note_conversation(connection, message)
        else:
            if part.is_first:
                _forget_subject(connection, message.subject)
            index_part(connection, part)
        connection.execute(_ADD_TO_SUBJECT, (message.subject, message.at))
    _count(connection, len(new))
    return _read_progress(connection)


def _note_conversation(connection: sqlite3.Connection, message: StoredMessage) -> None:
    session_id = _conversation_in(message.subject)
    step = message.headers.get(CONVERSATION)
    if session_id is None or step is None:
        return
    open_conversation(connection, session_id, tenant_of(message.headers))
    if step == "cleared":
        clear_conversation_at(connection, session_id, message.seq)


def _remove(connection: sqlite3.Connection, subjects: Iterable[str]) -> None:
    for subject in subjects:
        query_id = _trace_in(subject)
        session_id = _conversation_in(subject)
        if query_id is not None:
            remove_trace(connection, query_id)
        elif session_id is not None:
            forget_conversation(connection, session_id)
        _forget_subject(connection, subject)


def _remove_others(
    connection: sqlite3.Connection, there: Mapping[str, int], naming: Naming
) -> None:
    """Removes what the stream does not have any more."""
    rows = connection.execute("SELECT subject FROM subjects").fetchall()
    # One that has lost some of its messages stays, so that its deletion, which was broken off, can be done again.
    _remove(connection, [subject for (subject,) in rows if subject not in there])
    # A conversation that was only asked in has no message of its own.
    for (session_id,) in connection.execute(_EMPTY_CONVERSATIONS).fetchall():
        if naming.conversation(session_id) not in there:
            forget_conversation(connection, session_id)


def _forget_subject(connection: sqlite3.Connection, subject: str) -> None:
    row = connection.execute(_FORGET_SUBJECT, (subject,)).fetchone()
    if row is not None:
        _count(connection, -row[0])


def _count(connection: sqlite3.Connection, messages: int) -> None:
    connection.execute("UPDATE progress SET messages = messages + ?", (messages,))


def _note_missing(connection: sqlite3.Connection, messages: int) -> None:
    connection.execute("UPDATE progress SET missing = ? - messages", (messages,))


def _trace_in(subject: str) -> str | None:
    return _text_in(subject, "traces")


def _conversation_in(subject: str) -> str | None:
    return _text_in(subject, "conversations")


def _text_in(subject: str, kind: str) -> str | None:
    """Returns the text that a subject of a kind ends with; None for any other subject."""
    parts = subject.rsplit(".", 2)
    if len(parts) < 2 or parts[-2] != kind:
        return None
    try:
        return text_of(parts[-1])
    except ValueError:
        return None
