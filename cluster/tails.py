"""The ends of the traces that a process writes, which the next append to each must name."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from antiphon.cluster.messages import seqs_of
from antiphon.cluster.stream_reading import StoredMessage
from antiphon.vocabulary.events import Event, Recorded

_MOST_TAILS = 10_000
"""The most traces whose end is remembered; other ends are looked up."""


class Batch(NamedTuple):
    """Events that are stored together or not at all."""

    query_id: str
    expected_seq: int
    events: Sequence[Recorded[Event]]
    tenant: str
    imported: bool = False


@dataclass
class Tail:
    """The end of a trace that this process writes.

    Attributes:
        place: Its last message's place in the stream, which the next append names.
        seq: The `seq` of its last event.
        caller_seq: The last `seq` that the caller knows to be stored; appends of unknown outcome may have stored more.
        texts: The long texts that it holds.
        in_doubt: Appends of unknown outcome, by the id of their message.
    """

    place: int = 0
    seq: int = 0
    caller_seq: int = 0
    texts: set[str] = field(default_factory=set)
    in_doubt: dict[str, Sequence[Recorded[Event]]] = field(default_factory=dict)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def moved_to(self, place: int, seq: int) -> None:
        """Notes a message that is stored; the server now refuses any that were on their way before it."""
        self.place = place
        self.seq = seq
        self.in_doubt.clear()


class Tails:
    """The remembered ends."""

    def __init__(self) -> None:
        self._tails: OrderedDict[str, Tail] = OrderedDict()

    def get(self, query_id: str) -> Tail | None:
        """Returns the remembered end of a trace, or None."""
        return self._tails.get(query_id)

    def add(self, query_id: str, tail: Tail) -> Tail:
        """Remembers the end of a trace unless there is one already; returns the one that counts."""
        if len(self._tails) >= _MOST_TAILS:
            self._tails.popitem(last=False)
        # Another task may have looked it up meanwhile: both must use the same lock, and wait for each other.
        return self._tails.setdefault(query_id, tail)

    def put(self, query_id: str, tail: Tail) -> None:
        """Remembers the end of a trace, replacing an earlier one."""
        self.forget(query_id)
        self.add(query_id, tail)

    def forget(self, query_id: str) -> None:
        """Forgets the end of a trace."""
        self._tails.pop(query_id, None)


def tail_at(last: StoredMessage) -> Tail:
    seq = seqs_of(last)[1]
    return Tail(place=last.seq, seq=seq, caller_seq=seq)
