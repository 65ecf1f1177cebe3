"""Telemetry: OpenTelemetry spans and Prometheus metrics of queries, made by components that only observe."""

from antiphon.exports import exports

__getattr__, __dir__ = exports(__name__, __file__)
