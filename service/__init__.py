"""The service as a Python object, and the names that the REST API, the command line and the harness use."""

from antiphon.composition.building import ServiceResources, embedder_of, open_trace_store, speaker_of
from antiphon.composition.caller import Caller, Outcome
from antiphon.composition.errors import BusyError
from antiphon.composition.handle import QueryHandle
from antiphon.composition.logs import configure_logging, silence_logging
from antiphon.composition.redaction import redaction_of
from antiphon.composition.settings import Settings, load_settings
from antiphon.composition.totals import Totals
from antiphon.composition.wiring import Interceptor, NoInterceptor, Resources, who_hears, wire
from antiphon.history.diffing import Diff, diff
from antiphon.history.divergence import Divergence
from antiphon.history.forking import Change, Mode
from antiphon.history.history import History, replay_stored
from antiphon.history.lineage import answer_in, contributions, lineage
from antiphon.history.regression_test import sealed_trace, trace_test
from antiphon.history.replaying import Replayed, Replaying, replay, replay_lines
from antiphon.service.antiphon import Antiphon, Question, Readiness

__all__ = [
    "Antiphon",
    "BusyError",
    "Caller",
    "Change",
    "Diff",
    "Divergence",
    "History",
    "Interceptor",
    "Mode",
    "NoInterceptor",
    "Outcome",
    "QueryHandle",
    "Question",
    "Readiness",
    "Replayed",
    "Replaying",
    "Resources",
    "ServiceResources",
    "Settings",
    "Totals",
    "answer_in",
    "configure_logging",
    "contributions",
    "diff",
    "embedder_of",
    "lineage",
    "load_settings",
    "open_trace_store",
    "redaction_of",
    "replay",
    "replay_lines",
    "replay_stored",
    "sealed_trace",
    "silence_logging",
    "speaker_of",
    "trace_test",
    "who_hears",
    "wire",
]
