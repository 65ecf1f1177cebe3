"""Telemetry: OpenTelemetry spans and Prometheus metrics of queries, made by components that only look on."""

from antiphon.telemetry.batch import Batch, Source, observer
from antiphon.telemetry.conventions import ATTRIBUTES, SCHEMA_URL, SPANS
from antiphon.telemetry.exporting import SpanExport
from antiphon.telemetry.metrics import CONTENT_TYPE, Metrics
from antiphon.telemetry.state import ServiceState

__all__ = [
    "ATTRIBUTES",
    "CONTENT_TYPE",
    "SCHEMA_URL",
    "SPANS",
    "Batch",
    "Metrics",
    "ServiceState",
    "Source",
    "SpanExport",
    "observer",
]
