"""The composition root: settings, shared resources, a query's first event, and the tables of who decides and acts."""

from antiphon.composition.building import build, open_library
from antiphon.composition.embedding import embedder_of, late_embedder_of
from antiphon.composition.intake import Intake, rates_of, unpriced
from antiphon.composition.logs import (
    configure_logging,
    redacting_lines,
    silence_logging,
)
from antiphon.composition.model_key import key_words
from antiphon.composition.outcome import (
    GIVEN_UP,
    RECORDING_ENDS,
    Outcome,
    Totals,
    outcome_of,
    recording_ended,
)
from antiphon.composition.outside import LiveOutside, live_outside
from antiphon.composition.query import GrowingTrace, Query
from antiphon.composition.question import Question, check_question
from antiphon.composition.reasoners import speaker_of
from antiphon.composition.redaction import redaction_of
from antiphon.composition.resources import (
    BuildOutside,
    CourseIndex,
    Interceptor,
    NoInterceptor,
    Resources,
    ServiceResources,
    Sharing,
)
from antiphon.composition.settings import (
    Settings,
    load_settings,
    settings_warnings,
)
from antiphon.composition.sharing import open_cluster, queue_of, with_sharing
from antiphon.composition.subscribers import (
    catalog_of,
    load_subscribers,
    missing_subscribers,
)
from antiphon.composition.tools import tool_definitions
from antiphon.composition.trace_store import open_trace_store, trace_store_of
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
    "BuildOutside",
    "CourseIndex",
    "Deciders",
    "GrowingTrace",
    "Intake",
    "Interceptor",
    "LiveOutside",
    "NoInterceptor",
    "Outcome",
    "Query",
    "Question",
    "Resources",
    "ServiceResources",
    "Settings",
    "Sharing",
    "Totals",
    "Wiring",
    "build",
    "catalog_of",
    "check_question",
    "configure_logging",
    "deciders_of",
    "embedder_of",
    "key_words",
    "late_embedder_of",
    "live_outside",
    "load_settings",
    "load_subscribers",
    "missing_subscribers",
    "open_cluster",
    "open_library",
    "open_trace_store",
    "outcome_of",
    "queue_of",
    "rates_of",
    "recording_ended",
    "redacting",
    "redacting_lines",
    "redaction_of",
    "settings_warnings",
    "silence_logging",
    "speaker_of",
    "tool_definitions",
    "trace_store_of",
    "unpriced",
    "who_hears",
    "wire",
    "with_sharing",
]
