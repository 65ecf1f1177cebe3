"""Traces: what happened in every query, as JSON and in an append-only store."""

from antiphon.traces.codec import event_of, from_json, plain, to_json
from antiphon.traces.files import (
    IDS,
    bytes_of_file,
    file_of_lines,
    read_trace_file,
    trace_file,
    trace_lines,
)
from antiphon.traces.reading import PROGRAM
from antiphon.traces.redacting import Redaction
from antiphon.traces.schema import Durability
from antiphon.traces.sqlite_store import SqliteTraceStore

__all__ = [
    "IDS",
    "PROGRAM",
    "Durability",
    "Redaction",
    "SqliteTraceStore",
    "bytes_of_file",
    "event_of",
    "file_of_lines",
    "from_json",
    "plain",
    "read_trace_file",
    "to_json",
    "trace_file",
    "trace_lines",
]
