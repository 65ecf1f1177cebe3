"""Traces: what happened in every query, as JSON and in an append-only store."""

from traces.codec import event_of, from_json, plain, to_json
from traces.files import read_trace_file, trace_file, trace_lines
from traces.redacting import Redaction
from traces.sqlite_store import SqliteTraceStore

__all__ = [
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
