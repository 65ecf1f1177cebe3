"""Traces: what happened in every query, as JSON and in an append-only store."""

from traces.codec import event_of, from_json, plain, to_json
from traces.sqlite_store import SqliteTraceStore

__all__ = ["SqliteTraceStore", "event_of", "from_json", "plain", "to_json"]
