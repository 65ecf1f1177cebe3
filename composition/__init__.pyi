"""One machine, put together: settings, shared resources, a query's first event, the tables of who decides and acts."""

from antiphon.composition.allowance import UNBOUND, Allowance, Need, within
from antiphon.composition.building import build, open_library
from antiphon.composition.callers import (
    Callers,
    DocumentFolder,
    Metering,
    OpenStreams,
    View,
)
from antiphon.composition.embedding import embedder_of, late_embedder_of
from antiphon.composition.intake import Intake, rates_of, unpriced
from antiphon.composition.limits import Limits, LimitsOf, limits_of, own_budget
from antiphon.composition.logs import (
    configure_logging,
    redacting_lines,
    silence_logging,
)
from antiphon.composition.model_key import key_words
from antiphon.composition.needs import bounded, need_of
from antiphon.composition.outcome import (
    GIVEN_UP,
    RECORDING_ENDS,
    Outcome,
    Totals,
    outcome_of,
    recording_ended,
)
from antiphon.composition.outside import LiveOutside, live_outside, performers
from antiphon.composition.query import GrowingTrace, Query
from antiphon.composition.question import Question, check_question
from antiphon.composition.reasoners import speaker_of
from antiphon.composition.redaction import redaction_of
from antiphon.composition.resources import (
    BuildOutside,
    CourseIndex,
    Indexes,
    Interceptor,
    NoInterceptor,
    Resources,
    ServiceResources,
)
from antiphon.composition.running import Beginning, Elsewhere, EndQuery, Runner
from antiphon.composition.settings import (
    Settings,
    load_settings,
    settings_warnings,
)
from antiphon.composition.subscribers import (
    catalog_of,
    load_subscribers,
    missing_subscribers,
)
from antiphon.composition.tools import tool_definitions, with_tools_of_servers
from antiphon.composition.trace_store import OpenStore, open_own_store, open_trace_store
from antiphon.composition.wiring import (
    Deciders,
    Wiring,
    deciders_of,
    redacting,
    who_hears,
    wire,
)

__all__ = [
    "GIVEN_UP",
    "RECORDING_ENDS",
    "UNBOUND",
    "Allowance",
    "Beginning",
    "BuildOutside",
    "Callers",
    "CourseIndex",
    "Deciders",
    "DocumentFolder",
    "Elsewhere",
    "EndQuery",
    "GrowingTrace",
    "Indexes",
    "Intake",
    "Interceptor",
    "Limits",
    "LimitsOf",
    "LiveOutside",
    "Metering",
    "Need",
    "NoInterceptor",
    "OpenStore",
    "OpenStreams",
    "Outcome",
    "Query",
    "Question",
    "Resources",
    "Runner",
    "ServiceResources",
    "Settings",
    "Totals",
    "View",
    "Wiring",
    "bounded",
    "build",
    "catalog_of",
    "check_question",
    "configure_logging",
    "deciders_of",
    "embedder_of",
    "key_words",
    "late_embedder_of",
    "limits_of",
    "live_outside",
    "load_settings",
    "load_subscribers",
    "missing_subscribers",
    "need_of",
    "open_library",
    "open_own_store",
    "open_trace_store",
    "outcome_of",
    "own_budget",
    "performers",
    "rates_of",
    "recording_ended",
    "redacting",
    "redacting_lines",
    "redaction_of",
    "settings_warnings",
    "silence_logging",
    "speaker_of",
    "tool_definitions",
    "unpriced",
    "who_hears",
    "wire",
    "with_tools_of_servers",
    "within",
]
