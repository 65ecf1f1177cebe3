"""Traces: what happened in every query, as JSON and in an append-only store."""

from antiphon.traces.codec import event_of, from_json, plain, to_json
from antiphon.traces.files import read_trace_file, trace_file, trace_lines
from antiphon.traces.redacting import Redaction
from antiphon.traces.schema import Durability
from antiphon.traces.sqlite_store import SqliteTraceStore

__all__ = [
    "Durability",
    "Redaction",
    "SqliteTraceStore",
    "event_of",
    "from_json",
    "plain",
    "read_trace_file",
    "to_json",
    "trace_file",
    "trace_lines",
]
