"""Types made ready for decoding, one thread at a time.

What msgspec knows of a struct it finds out when the struct is first decoded, and it shows it to other threads before it
is complete: a second thread that decodes the same struct at that moment reads a null pointer, and the process ends
(SIGSEGV, msgspec 0.22). Two questions at once, the first ones of a service, did that
(docs/design/events.md).
"""

from __future__ import annotations

from functools import cache
from threading import Lock
from typing import TypeVar

import msgspec

T = TypeVar("T")

_lock = Lock()


def prepared(kind: T) -> T:
    """Returns a type as it is, once msgspec knows all of it. Whoever decodes or converts to a type names it so."""
    _prepare(kind)
    return kind


@cache
def _prepare(kind: object) -> None:
    with _lock:
        msgspec.msgpack.Decoder(kind)
