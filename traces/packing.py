"""Batches of events on their way into the store: redacted, and packed into rows."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from antiphon.traces.event_rows import EventRow, Packer
from antiphon.traces.ownership import Origin
from antiphon.traces.redacting import Redaction
from antiphon.vocabulary.events import Event, Recorded


class Batch(NamedTuple):
    """Events to be stored together or not at all."""

    query_id: str
    expected_seq: int
    events: Sequence[Recorded[Event]]
    origin: Origin


class Packed(NamedTuple):
    """A batch in the form of the store."""

    batch: Batch
    rows: list[EventRow]
    texts: dict[str, str]


class BatchPacker:
    """Packs batches.

    Args:
        redaction: Redacts every event: the last safety net, after the redactions at the sources.
    """

    def __init__(self, redaction: Redaction) -> None:
        self._redaction = redaction
        self._packer = Packer()

    def pack(self, batch: Batch, known: Container[str]) -> Packed:
        """Redacts and encodes a batch.

        Args:
            known: The keys of texts that were packed before, and so need no check.
        """
        packed = self._packed(batch)
        if self._is_sound(packed, known):
            return packed
        events = [
            replace(recorded, event=self._redaction.event(recorded.event))
            for recorded in batch.events
        ]
        return self._packed(batch._replace(events=events))

    def _is_sound(self, packed: Packed, known: Container[str]) -> bool:
        """Returns True if a packed batch surely holds nothing to redact, which is so for nearly every one."""
        bodies = [row.body for row in packed.rows]
        texts = [text for key, text in packed.texts.items() if key not in known]
        return self._redaction.needs_none(bodies, texts)

    def _packed(self, batch: Batch) -> Packed:
        rows = self._packer.rows(batch.query_id, batch.events)
        return Packed(batch, rows, self._packer.take_texts())
