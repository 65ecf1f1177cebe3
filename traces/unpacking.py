"""Decodes events of the store, and looks up the long texts that they refer to."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import lru_cache

from antiphon.traces.reading import EventReader, ReadText, decode_text
from antiphon.vocabulary.catalog import BUILT_IN, Catalog
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.values import StoredText

Fetch = Callable[[str], str | None]
"""Returns the long text of a key, or None if there is none."""


class _LookedUp(threading.local):
    """Holds this thread's source of long texts: a decoder takes 60 µs to build, so all traces share one.

    Attributes:
        read: Looks up long texts for the trace whose event is being decoded.
    """

    read: ReadText = staticmethod(decode_text)


_looked_up = _LookedUp()


def _read_text(kind: type, found: object) -> StoredText:
    return _looked_up.read(kind, found)


# A process has one catalog, tests a few; beyond the bound, decoders are merely built again.
@lru_cache(maxsize=8)
def _reader_of(catalog: Catalog) -> EventReader:
    return EventReader(catalog, _read_text)


class Unpacker:
    """Unpacks events; fetches each text once, and shares it among all events that refer to it.

    Args:
        fetch: Looks a long text up.
        catalog: The known events.
    """

    def __init__(self, fetch: Fetch, catalog: Catalog = BUILT_IN) -> None:
        self._fetch = fetch
        self._seen: dict[str, StoredText] = {}
        self._reader = _reader_of(catalog)

    def unpack(
        self, query_id: str, seq: int, cause: int, at: float, version: int, body: bytes
    ) -> Recorded[Event]:
        """Decodes a recorded event from the columns of its row.

        Raises:
            DecodeError: Its kind, a field or its version is not of this vocabulary, or one of its texts is missing.
        """
        _looked_up.read = self._stored_text
        try:
            event = self._reader.read(query_id, seq, version, body)
        finally:
            # Otherwise the thread would keep the trace's texts in memory.
            _looked_up.read = decode_text
        return Recorded(query_id=query_id, seq=seq, cause=cause, at=at, event=event)

    def _stored_text(self, _type: type, found: object) -> StoredText:
        match found:
            case str():
                return StoredText(found)
            case {"kept": str(key), **others} if not others:
                return self._look_up(key)
        raise ValueError("Expected a text or its key")

    def _look_up(self, key: str) -> StoredText:
        seen = self._seen.get(key)
        if seen is not None:
            return seen
        text = self._fetch(key)
        if text is None:
            raise ValueError(f"The text {key} is missing from the store")
        stored = StoredText(text)
        self._seen[key] = stored
        return stored
