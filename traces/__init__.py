"""Traces: what happened in every query, as JSON and in an append-only store."""

from traces.codec import from_json, plain, to_json
from traces.sqlite_store import SqliteTraceStore

__all__ = ["SqliteTraceStore", "from_json", "plain", "to_json"]
