"""Reads a file of another program's traces: recognises its form, and writes each trace as recorded queries."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import msgspec

from antiphon.history.foreign import atif, exchanges
from antiphon.history.foreign.loops import loops_of
from antiphon.history.foreign.model_calls import (
    MOST_SHOWN,
    TOO_MUCH,
    ForeignTrace,
    Read,
)
from antiphon.history.foreign.spans import traces_of_spans
from antiphon.history.foreign.writing import Writing
from antiphon.traces import IDS, MOST_BYTES, Redaction
from antiphon.vocabulary.errors import BadInputError, ModelError
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.feedback import Feedback
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.tool_calls import nests_too_deep

_MISSHAPEN = (ValueError, TypeError, AttributeError, LookupError, RecursionError)
"""The errors of reading a file whose fields may have any type."""
MOST_QUERIES = 1_000
"""Queries in one file."""
MOST_VALUES = 5_000_000
"""Values in one file: each takes many times its text's memory, but recordings are mostly long texts."""
NO_FORM = (
    "this is no file of `antiphon traces export`, and it holds none of what is read from other programs: spans with "
    "GenAI or OpenInference names, a trajectory (ATIF), a Langfuse export, or lines of request and response"
)


class ImportedFile(NamedTuple):
    """The contents of a file: the queries that could be read, and a sentence for each part that could not."""

    queries: Sequence[Sequence[Recorded[Event]]]
    refused: Sequence[str]
    feedback: Feedback | None = None


def read_foreign(data: bytes, now: float, redaction: Redaction) -> ImportedFile:
    """Reads the queries of a file that another program wrote.

    Args:
        now: The time of events if the file has no times.
        redaction: Removes texts that must not be stored.

    Raises:
        BadInputError: It is too large, or contains no queries.
    """
    _refuse_too_large(data)
    shown = 0
    file_id = hashlib.sha256(data).hexdigest()
    queries: list[Sequence[Recorded[Event]]] = []
    refused: list[str] = []
    for name, read in _traces(_values(data, refused), refused):
        try:
            trace = read()
            shown += sum(len(call.request["messages"]) for call in trace.calls)
            if shown > MOST_SHOWN:
                raise BadInputError(TOO_MUCH)
            for query in _queries(trace, file_id, now, redaction):
                queries.append(query)
                if len(queries) > MOST_QUERIES:
                    raise BadInputError(f"{MOST_QUERIES:,} queries of a file are read")
        except (BadInputError, ModelError, *_MISSHAPEN) as error:
            refused.append(f"{name[:80]}: {_why(error)}")
    if not queries:
        raise BadInputError("; ".join(refused[:5]) or NO_FORM)
    return ImportedFile(queries, refused)


def _refuse_too_large(data: bytes) -> None:
    if len(data) > MOST_BYTES:
        raise BadInputError(
            f"the file has more than {MOST_BYTES:,} bytes, which is the most"
        )
    # An upper bound on the values, without decoding the file: each but the first follows one of these.
    if sum(map(data.count, (b"{", b"[", b","))) > MOST_VALUES:
        raise BadInputError(
            f"the file holds more than {MOST_VALUES:,} values, which is the most"
        )


def _why(error: Exception) -> str:
    if isinstance(error, BadInputError | ModelError):
        return str(error)
    return f"a field in it is not as its form has it ({error!r:.120})"


def _values(data: bytes, refused: list[str]) -> list[Any]:
    """Returns the value in a JSON file, or those in a file of JSON lines."""
    try:
        whole = _decoded(data)
        return whole if isinstance(whole, list) else [whole]
    except BadInputError:
        lines = data.splitlines()
    values: list[Any] = []
    for number, line in enumerate(lines, start=1):
        try:
            if line.strip():
                values.append(_decoded(line))
        except BadInputError as error:
            refused.append(f"line {number}: {error}")
    return values


def _decoded(data: bytes) -> Any:
    try:
        value = msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BadInputError(f"this is no JSON ({error})") from None
    if nests_too_deep(value, data):
        raise BadInputError("this is nested too deep")
    return value


def _traces(values: list[Any], refused: list[str]) -> Iterator[tuple[str, Read]]:
    lines = list(filter(exchanges.is_exchange, values))
    if lines:
        yield exchanges.FORM, partial(_of_exchanges, lines, refused)
    for value in filter(atif.is_atif, values):
        yield from atif.traces_of_atif(value)
    yield from traces_of_spans(values)


def _of_exchanges(lines: list[Json], refused: list[str]) -> ForeignTrace:
    """Returns the calls in all lines, which are grouped later by their requests."""
    trace = ForeignTrace("", exchanges.FORM)
    for number, line in enumerate(lines, start=1):
        try:
            trace.calls.append(exchanges.call_of(line))
        except (BadInputError, *_MISSHAPEN) as error:
            refused.append(f"exchange {number}: {_why(error)}")
    return trace


def _queries(
    trace: ForeignTrace, file_id: str, now: float, redaction: Redaction
) -> Iterator[list[Recorded[Event]]]:
    if not trace.calls:
        raise BadInputError("it holds no call of a model")
    for number, loop in enumerate(loops_of(trace.calls)):
        query_id = trace.id
        # People name a trace by the beginning of its id, so no other id may begin with it.
        if number or IDS.fullmatch(query_id) is None:
            key = f"{file_id} {query_id} {number}"
            query_id = hashlib.sha256(key.encode()).hexdigest()[:32]
        yield Writing(trace, loop, query_id, now, redaction).events()
