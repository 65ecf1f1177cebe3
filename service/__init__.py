"""The service as a Python object, and the names that the REST API, the command line and the harness use."""

from antiphon.bus import Pending
from antiphon.composition.building import ServiceResources, embedder_of, open_trace_store, speaker_of
from antiphon.composition.caller import Caller, Outcome
from antiphon.composition.errors import BusyError
from antiphon.composition.handle import QueryHandle
from antiphon.composition.logs import configure_logging, silence_logging
from antiphon.composition.redaction import redaction_of
from antiphon.composition.settings import Settings, load_settings
from antiphon.composition.totals import Totals
from antiphon.composition.wiring import Interceptor, NoInterceptor, Resources, who_hears, wire
from antiphon.dispatcher import load_tools
from antiphon.engine import Double, Finding, find_capabilities, read_script
from antiphon.history.diffing import Diff, Side, diff
from antiphon.history.divergence import Divergence
from antiphon.history.forking import Change, Mode
from antiphon.history.history import History, replay_stored
from antiphon.history.lineage import Origin, answer_in, contributions, lineage
from antiphon.history.regression_test import sealed_trace, trace_test
from antiphon.history.replaying import Replayed, Replaying, replay, replay_lines
from antiphon.knowledge import Course, IndexProgress, IndexSummary, index_paths, overview
from antiphon.service.antiphon import Antiphon, Question, Readiness
from antiphon.synthesizer import BriefingView, MemoryView, briefings_of, memory_at
from antiphon.traces import Redaction, read_trace_file, to_json, trace_file, trace_lines

__all__ = [
    "Antiphon",
    "BriefingView",
    "BusyError",
    "Caller",
    "Change",
    "Course",
    "Diff",
    "Divergence",
    "Double",
    "Finding",
    "History",
    "IndexProgress",
    "IndexSummary",
    "Interceptor",
    "MemoryView",
    "Mode",
    "NoInterceptor",
    "Origin",
    "Outcome",
    "Pending",
    "QueryHandle",
    "Question",
    "Readiness",
    "Redaction",
    "Replayed",
    "Replaying",
    "Resources",
    "ServiceResources",
    "Settings",
    "Side",
    "Totals",
    "answer_in",
    "briefings_of",
    "configure_logging",
    "contributions",
    "diff",
    "embedder_of",
    "find_capabilities",
    "index_paths",
    "lineage",
    "load_settings",
    "load_tools",
    "memory_at",
    "open_trace_store",
    "overview",
    "read_script",
    "read_trace_file",
    "redaction_of",
    "replay",
    "replay_lines",
    "replay_stored",
    "sealed_trace",
    "silence_logging",
    "speaker_of",
    "to_json",
    "trace_file",
    "trace_lines",
    "trace_test",
    "who_hears",
    "wire",
]
