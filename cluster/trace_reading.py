"""Turns messages of a trace into events, forms and lines, and fetches the long texts to which they refer.

Large traces are decoded in a thread, so that other queries of the process go on meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from antiphon.cluster.blobs import Blobs
from antiphon.cluster.decoding import decoded
from antiphon.cluster.messages import Payload, unpack
from antiphon.cluster.stream_reading import StoredMessage
from antiphon.cluster.trace_log import TraceLog
from antiphon.traces import (
    EventRow,
    Unpacker,
    form_of,
    line_of,
    program_of,
    upgraded,
)
from antiphon.vocabulary.catalog import Catalog
from antiphon.vocabulary.errors import DecodeError
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.ports import Json


@dataclass(frozen=True)
class StoredTrace:
    """A trace in its stored form.

    Attributes:
        rows: A row for each event, in order.
        texts: The long texts to which they refer, by key.
    """

    rows: Sequence[EventRow]
    texts: Mapping[str, str]

    @property
    def size_bytes(self) -> int:
        """The approximate size of the data to decode: a character of a text counts as a byte."""
        bodies = sum([len(row.body) for row in self.rows])
        return bodies + sum(map(len, self.texts.values()))

    def events(self, after: int, catalog: Catalog) -> list[Recorded[Event]]:
        """Decodes the events with `seq` > `after`.

        Raises:
            DecodeError: An event is of an unknown kind, version or shape.
        """
        unpacker = Unpacker(self.texts.get, catalog)
        try:
            return [unpacked(unpacker, row) for row in self.rows if row.seq > after]
        except DecodeError as error:
            if program := self._program():
                raise DecodeError(
                    f"{error} (recorded by Antiphon {program})", error.seq
                ) from error
            raise

    def forms(self) -> list[Json]:
        """Returns each event with the fields that it had when it was written."""
        return [upgraded(form_of(row.body), row.version) for row in self.rows]

    def lines(self) -> list[bytes]:
        """Returns each event as a line of JSON."""
        lines: list[bytes] = []
        for row in self.rows:
            query_id, seq, cause, at, _, version, body = row
            lines.append(
                line_of(query_id, seq, cause, at, version, body, self.texts.get)
            )
        return lines

    def _program(self) -> str:
        """Returns the version of the program that recorded the trace; empty if the trace does not name it."""
        if not self.rows:
            return ""
        return program_of(self.rows[0].body)


def unpacked(unpacker: Unpacker, row: EventRow) -> Recorded[Event]:
    """Decodes the event of a row. Raises as `Unpacker.unpack` does."""
    return unpacker.unpack(
        row.query_id, row.seq, row.cause, row.at, row.version, row.body
    )


class TraceReader:
    """Reads whole traces.

    Args:
        log: Holds their messages.
        blobs: Holds texts and payloads that were too long for messages.
    """

    def __init__(self, log: TraceLog, blobs: Blobs) -> None:
        self._log = log
        self._blobs = blobs

    async def read(self, query_id: str) -> StoredTrace:
        """Reads a trace.

        Raises:
            NotFoundError: No such trace.
            DecodeError: A message is not one of ours.
            TraceError: The servers do not answer.
        """
        return await self.trace_of(query_id, await self._log.read(query_id))

    async def trace_of(
        self,
        query_id: str,
        messages: Sequence[StoredMessage],
        known: Callable[[str], str | None] = lambda _: None,
    ) -> StoredTrace:
        """Returns the part of a trace that these messages hold. Raises as `read` does.

        Args:
            known: Returns a text of an earlier message of the trace by its key, or None.
        """
        parts = [await self._log.data_of(message, query_id) for message in messages]
        size_bytes = sum(map(len, parts))
        payloads = await decoded(partial(_unpacked, parts, query_id), size_bytes)
        rows: list[EventRow] = []
        texts: dict[str, str] = {}
        for payload in payloads:
            rows += payload.rows(query_id)
            texts |= payload.texts
            # A follower reads message by message, and need not fetch the same text for each.
            missing = [key for key in payload.blobs if known(key) is None]
            texts |= await self._long_texts(query_id, missing)
        return StoredTrace(rows, texts)

    async def _long_texts(self, query_id: str, keys: Sequence[str]) -> dict[str, str]:
        found = await self._blobs.get(query_id, keys)
        size_bytes = sum(map(len, found.values()))
        return await decoded(partial(_as_texts, found), size_bytes)


def _unpacked(parts: Sequence[bytes], query_id: str) -> list[Payload]:
    return [unpack(part, query_id) for part in parts]


def _as_texts(found: Mapping[str, bytes]) -> dict[str, str]:
    # Nothing is really replaced: the bytes came from texts, and their hash was checked.
    return {key: data.decode(errors="replace") for key, data in found.items()}
