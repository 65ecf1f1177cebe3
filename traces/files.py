"""Trace files in JSON lines: a head that describes and checksums the rest, then an event a line.

A file may come from anywhere: it is read whole and checked line by line before any of it is used, and the refusal names
the line and what is wrong with it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from antiphon.traces.codec import from_json, to_json
from antiphon.traces.redacting import Redaction
from antiphon.vocabulary.access import without_keys
from antiphon.vocabulary.catalog import BUILT_IN, Catalog
from antiphon.vocabulary.errors import BadInputError, DecodeError
from antiphon.vocabulary.events import Event, QueryClosed, QueryReceived, Recorded
from antiphon.vocabulary.feedback import Feedback
from antiphon.vocabulary.typed import prepared

FORMAT = 1
MOST_BYTES = 64_000_000
MOST_EVENTS = 20_000
MOST_ID_CHARS = 200
IDS = re.compile(rf"[A-Za-z0-9_-]{{1,{MOST_ID_CHARS}}}")
"""The ids that a trace may have."""

MOST_AT = 253_402_300_799.0
"""The last second of the year 9999: `datetime` goes no further."""


class Head(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
):
    """First line of a file.

    Attributes:
        antiphon_trace: Version of this form.
        events: How many lines follow.
        sha256: Of everything that follows, and of the feedback if there is any, in hex.
        feedback: On the answer; omitted if there is none, so that earlier versions read the file.
    """

    antiphon_trace: int
    query_id: str
    events: int
    sha256: str
    feedback: Feedback | None = None


_heads = msgspec.json.Decoder(prepared(Head))


def trace_file(
    events: Sequence[Recorded[Event]], feedback: Feedback | None = None
) -> bytes:
    """Builds the file of one trace."""
    return file_of_lines(events[0].query_id, list(map(to_json, events)), feedback)


def file_of_lines(
    query_id: str, lines: Sequence[bytes], feedback: Feedback | None = None
) -> bytes:
    """Builds the file of one trace from its events as JSON, which this program need not know."""
    body = b"".join(line + b"\n" for line in lines)
    head = Head(
        antiphon_trace=FORMAT,
        query_id=query_id,
        events=len(lines),
        sha256=_hash(body, feedback),
        feedback=feedback,
    )
    return msgspec.json.encode(head) + b"\n" + body


def bytes_of_file(path: Path) -> bytes:
    """Reads what may be a trace file, but no more of it than is needed to refuse one that is too large.

    Raises:
        BadInputError: It cannot be read.
    """
    try:
        with path.open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except OSError as error:
        raise BadInputError(f"{path} cannot be read: {error.strerror}") from error


def read_trace_file(data: bytes, catalog: Catalog = BUILT_IN) -> list[Recorded[Event]]:
    """Reads the events of a file, and checks all of them.

    Raises:
        DecodeError: Something is wrong; the message says what, and in which line.
    """
    head, lines = trace_lines(data)
    redaction = Redaction()
    events: list[Recorded[Event]] = []
    before: Recorded[Event] | None = None
    for seq, line in enumerate(lines, start=1):
        number = seq + 1  # the head is line 1
        recorded = _event(line, number, catalog)
        wrong = _misplaced(recorded, seq, head.query_id, before)
        # Only a line that may hold a key is searched field by field.
        if not wrong and not redaction.needs_none((line,), ()):
            wrong = _named_by_key(recorded, redaction)
        if wrong:
            raise _refusal(number, wrong, recorded.seq)
        events.append(recorded)
        before = recorded
    return events


def trace_lines(data: bytes) -> tuple[Head, list[bytes]]:
    """Reads the head and the lines of a file, and checks only that they are unchanged.

    Raises:
        DecodeError: The file was changed or cut off, or is not a trace file.
    """
    if len(data) > MOST_BYTES:
        raise _refusal(
            1, f"the file has more than {MOST_BYTES:,} bytes, which is the most"
        )
    first, _, body = data.partition(b"\n")
    head = _head(first)
    lines = body.split(b"\n")
    # Every line ends with a line break, so a cut anywhere is visible.
    if lines.pop() != b"":
        raise _refusal(len(lines) + 2, "the last line is cut off: it has no line end")
    if len(lines) != head.events:
        raise _refusal(
            len(lines) + 1,
            f"the head promises {head.events} events and {len(lines)} are there",
        )
    if _hash(body, head.feedback) != head.sha256:
        raise _refusal(
            1,
            "the events are not those that were exported: their hash is not the head's `sha256`",
        )
    return head, lines


def feedback_of_file(data: bytes) -> Feedback | None:
    """Reads the feedback in the head of a file. Raises DecodeError if the first line is no head."""
    return _head(data.partition(b"\n")[0]).feedback


def _hash(body: bytes, feedback: Feedback | None) -> str:
    digest = hashlib.sha256(body)
    if feedback is not None:
        digest.update(msgspec.json.encode(feedback))
    return digest.hexdigest()


def _head(line: bytes) -> Head:
    try:
        head = _heads.decode(line)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise _refusal(
            1,
            f"this is no head of a trace file ({error}); export one with `antiphon traces export`",
        ) from None
    if head.antiphon_trace != FORMAT:
        raise _refusal(
            1,
            f"the file has form {head.antiphon_trace}, this program reads form {FORMAT}",
        )
    if not 0 < head.events <= MOST_EVENTS:
        raise _refusal(
            1, f"the head promises {head.events} events; it may be 1 to {MOST_EVENTS:,}"
        )
    if head.feedback is not None and not 0 <= head.feedback.at <= MOST_AT:
        raise _refusal(1, f"`feedback.at` is {head.feedback.at}, which is no time")
    # An id becomes part of file names, addresses and commands.
    if IDS.fullmatch(head.query_id) is None:
        raise _refusal(
            1,
            f"the id has {len(head.query_id)} characters; it may be 1 to {MOST_ID_CHARS} letters, digits, - and _",
        )
    return head


def _event(line: bytes, number: int, catalog: Catalog) -> Recorded[Event]:
    try:
        return from_json(line, catalog)
    except DecodeError as error:
        raise _refusal(number, str(error), error.seq) from error
    except UnicodeDecodeError as error:
        raise _refusal(number, f"this is no UTF-8 ({error.reason})") from error


def _misplaced(
    recorded: Recorded[Event], seq: int, query_id: str, before: Recorded[Event] | None
) -> str:
    """Describes what is wrong with an event's place; returns an empty text if nothing is."""
    if recorded.query_id != query_id:
        return f"the event is of trace {recorded.query_id[:80]!r}, the file of {query_id!r}"
    if recorded.seq != seq:
        return f"`seq` is {recorded.seq}, and must be {seq}"
    if not 0 <= recorded.cause < seq:
        return f"`cause` is {recorded.cause}: an event can only come of an earlier one"
    # Written so that not-a-number fails too.
    if not 0 <= recorded.at <= MOST_AT:
        return f"`at` is {recorded.at}, which is no time"
    return _wrong_after(before, recorded)


def _named_by_key(recorded: Recorded[Event], redaction: Redaction) -> str:
    """Describes a key in a name, if there is one: redaction leaves names alone, because they link things together."""
    texts = to_json(replace(recorded, event=redaction.event(recorded.event))).decode()
    if without_keys(texts) == texts:
        return ""
    return "a name or an id in it is a key (`antiphon keys`): name it otherwise, and rotate the key"


def _wrong_after(before: Recorded[Event] | None, recorded: Recorded[Event]) -> str:
    is_first = before is None
    if isinstance(recorded.event, QueryReceived) != is_first:
        return "a trace begins with one `query_received`, and has no other"
    if before is None:
        return ""
    if recorded.at < before.at:
        return "its time is before that of the event before it"
    if isinstance(before.event, QueryClosed):
        return "`query_closed` must be the last event"
    return ""


def _refusal(line: int, wrong: str, seq: int = 0) -> DecodeError:
    return DecodeError(f"line {line}: {wrong}", seq)
