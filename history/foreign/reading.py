"""A file of another program's traces: told by what it holds, read trace by trace, written as recorded queries."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import msgspec

from antiphon.history.foreign import atif, exchanges, langfuse, spans
from antiphon.history.foreign.loops import loops_of
from antiphon.history.foreign.model_calls import ForeignTrace, Read, in_order
from antiphon.history.foreign.writing import written_trace
from antiphon.traces import IDS, MOST_BYTES, Redaction
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.tool_calls import nests_too_deep

MOST_TRACES = 1_000
"""Queries in one file."""
NO_FORM = (
    "this is no trace file of `antiphon traces export`, and none of the forms that are read: OTLP JSON or Phoenix "
    "spans with GenAI or OpenInference names, ATIF, a Langfuse export, or JSON lines of request and response"
)


class ImportedFile(NamedTuple):
    """What a file holds: the queries that could be read, and a sentence for each part that could not."""

    queries: Sequence[Sequence[Recorded[Event]]]
    refused: Sequence[str]


def read_foreign(data: bytes, now: float, redaction: Redaction) -> ImportedFile:
    """Reads the queries of a file that another program wrote.

    Args:
        now: The time of events where the file has none.
        redaction: Takes out what must not be stored.

    Raises:
        BadInputError: It is too large, or holds none.
    """
    if len(data) > MOST_BYTES:
        raise BadInputError(
            f"the file has more than {MOST_BYTES:,} bytes, which is the most"
        )
    queries: list[Sequence[Recorded[Event]]] = []
    refused: list[str] = []
    values = _values(data, refused)
    for name, read in _traces(values, refused):
        try:
            for query in _queries(read(), data, now, redaction):
                queries.append(query)
        except BadInputError as error:
            refused.append(f"trace {name[:80]}: {error}")
        # Any field may be of any type; what a reader expects of it is what its form promises.
        except (
            ValueError,
            TypeError,
            AttributeError,
            LookupError,
            RecursionError,
        ) as error:
            refused.append(
                f"trace {name[:80]}: a field in it is of another type than its form has it ({error!r:.120})"
            )
        if len(queries) > MOST_TRACES:
            raise BadInputError(
                f"the file holds more than {MOST_TRACES:,} queries: split it"
            )
    if not queries:
        raise BadInputError("; ".join(refused[:5]) or NO_FORM)
    return ImportedFile(queries, refused)


def _values(data: bytes, refused: list[str]) -> list[Any]:
    """Returns the whole of a JSON file, or the lines of one of JSON lines."""
    try:
        return [_decoded(data)]
    except BadInputError:
        lines = data.splitlines()
    values: list[Any] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
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
    if len(values) == 1 and isinstance(values[0], list):
        values = values[0]
    lines = [
        (n, each)
        for n, each in enumerate(values, start=1)
        if exchanges.is_exchange(each)
    ]
    if lines:
        yield exchanges.FORM, partial(exchanges.trace_of_exchanges, lines, refused)
    for value in filter(atif.is_atif, values):
        yield from atif.traces_of_atif(value)
    others = [
        each
        for each in values
        if not exchanges.is_exchange(each) and not atif.is_atif(each)
    ]
    if langfuse.is_langfuse(others):
        yield from langfuse.traces_of_langfuse(others)
    else:
        yield from spans.traces_of_spans(others)


def _queries(
    trace: ForeignTrace, data: bytes, now: float, redaction: Redaction
) -> Iterable[list[Recorded[Event]]]:
    loops = loops_of(in_order(trace))
    if not loops:
        raise BadInputError("it holds no call of a model that can be read")
    first_id = trace.id
    if IDS.fullmatch(first_id) is None:
        first_id = hashlib.sha256(data + trace.id.encode()).hexdigest()[:32]
    for number, loop in enumerate(loops, start=1):
        query_id = first_id if number == 1 else f"{first_id}-{number}"
        session_id = first_id if len(loops) > 1 else ""
        yield written_trace(trace, loop, query_id, session_id, now, redaction)
