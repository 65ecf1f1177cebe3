"""Types made ready for decoding, one thread at a time.

msgspec inspects a struct when it is first decoded, and lets other threads use the result before it is complete: a
second thread that decodes the same struct at that moment reads a null pointer, and the process crashes (SIGSEGV,
msgspec 0.22). The first two questions of a service, asked at once, did that (docs/design/events.md).
"""

from __future__ import annotations

from functools import cache
from threading import Lock
from typing import TypeVar

import msgspec

T = TypeVar("T")

_lock = Lock()


def prepared(kind: T) -> T:
    """Returns a type unchanged once msgspec knows all of it; for each type that threads decode or convert to."""
    _prepare(kind)
    return kind


@cache
def _prepare(kind: object) -> None:
    with _lock:
        msgspec.msgpack.Decoder(kind)
