"""The messages between a session and the process that performs its requests, and functions that read them."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from antiphon.vocabulary.errors import RemoteError
from antiphon.vocabulary.events import Live
from antiphon.vocabulary.typed import prepared

MOST_WORDS = 600
"""The most characters of a reason that the other side gives."""


class Place(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The context in which a process performs a query's requests, besides the process's own settings.

    Attributes:
        tenant: The tenant whose documents it searches; empty: only the shared ones.
        effects: True if its tools may change something outside.
        tools: The key of the tool definitions that the model sees: both processes must have the same.
    """

    query_id: str = ""
    tenant: str = ""
    effects: bool = True
    tools: str = ""


class Frame(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="frame",
):
    """The base of every message.

    Attributes:
        lease: The id of one query's stay at one process; messages of other leases are ignored.
        number: 1, 2, 3 … in each direction: core NATS drops messages if a connection breaks, and the gap shows that.
    """

    lease: str
    number: int


class Begin(Frame, frozen=True, kw_only=True, tag="begin"):
    """The first message about a query to a process.

    Attributes:
        reply_to: The subject to which the process sends its messages.
        lease_s: Seconds without a message after which the session gives this process up.
    """

    place: Place
    reply_to: str
    lease_s: float


class Recall(Frame, frozen=True, kw_only=True, tag="recall"):
    """An event of the query's past."""

    recorded: msgspec.Raw


class Perform(Frame, frozen=True, kw_only=True, tag="perform"):
    """A request to perform.

    Attributes:
        again: True if a process that is gone may have performed it before.
        followed: True if somebody reads the query live.
    """

    request: msgspec.Raw
    again: bool = False
    followed: bool = True


class Abandon(Frame, frozen=True, kw_only=True, tag="abandon"):
    """An order to stop the work that the request `seq` led to."""

    seq: int
    why: str


class Alive(Frame, frozen=True, kw_only=True, tag="alive"):
    """A sign of life: the sender still works on the query."""


class End(Frame, frozen=True, kw_only=True, tag="end"):
    """The query is over: all work for it stops."""


class Emitted(Frame, frozen=True, kw_only=True, tag="emitted"):
    """An event to publish; its `cause` is the `seq` of the request that led to it."""

    recorded: msgspec.Raw


class Streamed(Frame, frozen=True, kw_only=True, tag="streamed"):
    """Text for live followers."""

    live: msgspec.Raw


class Done(Frame, frozen=True, kw_only=True, tag="done"):
    """All work that the request `seq` led to is done.

    Attributes:
        error: The failure; empty: nothing failed.
    """

    seq: int
    error: str = ""


class Gone(Frame, frozen=True, kw_only=True, tag="gone"):
    """The process no longer works on the query."""

    why: str


class Offer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A process's answer to a session that looks for one: the subject on which it takes the query."""

    subject: str


ToProcess = Begin | Recall | Perform | Abandon | Alive | End
ToSession = Emitted | Streamed | Done | Alive | Gone

_encoder = msgspec.json.Encoder()
_to_process: msgspec.json.Decoder[ToProcess] = msgspec.json.Decoder(prepared(ToProcess))
_to_session: msgspec.json.Decoder[ToSession] = msgspec.json.Decoder(prepared(ToSession))
_offer: msgspec.json.Decoder[Offer] = msgspec.json.Decoder(prepared(Offer))
_live: msgspec.json.Decoder[Live] = msgspec.json.Decoder(prepared(Live))

T = TypeVar("T")


def encode(message: Frame | Offer) -> bytes:
    """Returns a message as JSON."""
    return _encoder.encode(message)


def read_to_process(data: bytes) -> ToProcess:
    """Reads a message from a session. Raises RemoteError if it is not one."""
    return _read(_to_process, data)


def read_to_session(data: bytes) -> ToSession:
    """Reads a message from an acting process. Raises RemoteError if it is not one."""
    return _read(_to_session, data)


def read_offer(data: bytes) -> Offer:
    """Reads the answer to a session that looks for a process. Raises RemoteError if it is not one."""
    return _read(_offer, data)


def read_live(data: bytes) -> Live:
    """Reads text for live followers. Raises RemoteError if it is not that."""
    return _read(_live, data)


def _read(decoder: msgspec.json.Decoder[T], data: bytes) -> T:
    # The error does not quote the message: anybody who reaches the servers may have sent it.
    try:
        return decoder.decode(data)
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        raise RemoteError(
            f"a message of {len(data)} bytes cannot be read ({type(error).__name__}): are both of one version?"
        ) from error
