"""Telemetry: OpenTelemetry spans and Prometheus metrics of queries, made by components that only look on."""

from antiphon.telemetry.conventions import ATTRIBUTES
from antiphon.telemetry.exporting import SpanExport
from antiphon.telemetry.metrics import Metrics
from antiphon.telemetry.queries import observer

__all__ = ["ATTRIBUTES", "Metrics", "SpanExport", "observer"]
