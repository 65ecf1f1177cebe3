"""Traces: the recorded events of every query, as JSON and in an append-only store."""

from antiphon.traces.annotating import redacted_feedback
from antiphon.traces.codec import event_of, from_json, plain, to_json
from antiphon.traces.conversation_list import write_title
from antiphon.traces.conversations import (
    NO_CONVERSATION,
    clear_conversation_at,
    conversations_of,
    forget_conversation,
    open_conversation,
)
from antiphon.traces.copying import copy_store
from antiphon.traces.encryption import encrypt_file
from antiphon.traces.event_log import line_of, unknown_trace
from antiphon.traces.event_rows import EventRow, Packer
from antiphon.traces.feedback import write_feedback
from antiphon.traces.files import (
    IDS,
    MOST_AT,
    MOST_BYTES,
    MOST_EVENTS,
    bytes_of_file,
    feedback_of_file,
    file_of_lines,
    read_trace_file,
    trace_file,
    trace_lines,
)
from antiphon.traces.finding import Finder
from antiphon.traces.inspecting import empty_log, files_holding, traces_holding
from antiphon.traces.ownership import IMPORTED
from antiphon.traces.question_sets import (
    read_question_sets,
    write_question_set,
)
from antiphon.traces.reading import PROGRAM, form_of, program_of, upgraded
from antiphon.traces.redacting import Redaction
from antiphon.traces.schema import Durability
from antiphon.traces.sqlite_store import FILE_NAME as STORE_FILE
from antiphon.traces.sqlite_store import SqliteTraceStore
from antiphon.traces.trace_index import (
    TraceIndex,
    TracePart,
    index_part,
    merge_words,
    remove_everything,
    remove_trace,
)
from antiphon.traces.unpacking import Unpacker

__all__ = [
    "IDS",
    "IMPORTED",
    "MOST_AT",
    "MOST_BYTES",
    "MOST_EVENTS",
    "NO_CONVERSATION",
    "PROGRAM",
    "STORE_FILE",
    "Durability",
    "EventRow",
    "Finder",
    "Packer",
    "Redaction",
    "SqliteTraceStore",
    "TraceIndex",
    "TracePart",
    "Unpacker",
    "bytes_of_file",
    "clear_conversation_at",
    "conversations_of",
    "copy_store",
    "empty_log",
    "encrypt_file",
    "event_of",
    "feedback_of_file",
    "file_of_lines",
    "files_holding",
    "forget_conversation",
    "form_of",
    "from_json",
    "index_part",
    "line_of",
    "merge_words",
    "open_conversation",
    "plain",
    "program_of",
    "read_question_sets",
    "read_trace_file",
    "redacted_feedback",
    "remove_everything",
    "remove_trace",
    "to_json",
    "trace_file",
    "trace_lines",
    "traces_holding",
    "unknown_trace",
    "upgraded",
    "write_feedback",
    "write_question_set",
    "write_title",
]
