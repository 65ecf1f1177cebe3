"""Traces: what happened in every query, as JSON and in an append-only store."""

from antiphon.traces.codec import event_of, from_json, plain, to_json
from antiphon.traces.copying import copy_store
from antiphon.traces.encryption import encrypt_file
from antiphon.traces.files import (
    IDS,
    bytes_of_file,
    file_of_lines,
    read_trace_file,
    trace_file,
    trace_lines,
)
from antiphon.traces.inspecting import empty_log, files_holding, traces_holding
from antiphon.traces.reading import PROGRAM
from antiphon.traces.redacting import Redaction
from antiphon.traces.schema import Durability
from antiphon.traces.sqlite_store import FILE_NAME as STORE_FILE
from antiphon.traces.sqlite_store import SqliteTraceStore

__all__ = [
    "IDS",
    "PROGRAM",
    "STORE_FILE",
    "Durability",
    "Redaction",
    "SqliteTraceStore",
    "bytes_of_file",
    "copy_store",
    "empty_log",
    "encrypt_file",
    "event_of",
    "file_of_lines",
    "files_holding",
    "from_json",
    "plain",
    "read_trace_file",
    "to_json",
    "trace_file",
    "trace_lines",
    "traces_holding",
]
