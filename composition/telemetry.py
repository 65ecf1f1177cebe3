"""Telemetry as the settings ask for it; the parts that they do not ask for are not even imported."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from antiphon import telemetry
from antiphon.bus import BUS_ENTRIES, LoopWatchdog
from antiphon.composition.settings import Settings
from antiphon.dispatcher import run_tool
from antiphon.traces import Redaction
from antiphon.vocabulary.errors import ConfigurationError
from antiphon.vocabulary.subscribers import Subscriber


@dataclass(frozen=True)
class Telemetry:
    """The telemetry of one service.

    Attributes:
        metrics: The metrics; None: the process keeps only its sums.
        spans: The export of spans; None: there are no spans.
        observers: The component that follows each query, if there are metrics or spans.
    """

    metrics: telemetry.Metrics | None = None
    spans: telemetry.SpanExport | None = None
    observers: tuple[Subscriber, ...] = ()

    def loop_watchdog(self) -> LoopWatchdog:
        """Returns a watchdog that names the code which blocks the event loop, in the log and in the metrics."""
        entries = {
            **BUS_ENTRIES,
            run_tool.__code__: lambda local: f"tool {local['tool'].name}",
        }
        return LoopWatchdog(entries, self._count_blocked)

    def _count_blocked(self, by: str) -> None:
        if self.metrics is not None:
            self.metrics.increment("antiphon_event_loop_blocked", by)

    def close(self) -> None:
        """Sends the remaining spans; blocks for a few seconds at most."""
        if self.spans is not None:
            self.spans.close()


NO_TELEMETRY = Telemetry()


def telemetry_of(
    settings: Settings, tools: Collection[str], redaction: Redaction
) -> Telemetry:
    """Returns the telemetry that the settings describe.

    Args:
        tools: The names of all tools.
        redaction: Applied to all text of spans.

    Raises:
        ConfigurationError: The libraries are not installed, or the headers cannot be used.
    """
    if settings.metrics != "prometheus" and settings.otlp_endpoint is None:
        return NO_TELEMETRY
    try:
        metrics = telemetry.Metrics() if settings.metrics == "prometheus" else None
        spans = None
        if settings.otlp_endpoint is not None:
            redact = redaction.event if settings.otlp_content else None
            spans = telemetry.SpanExport(
                settings.otlp_endpoint, headers_of(settings), redact
            )
        observer = telemetry.observer(tools, metrics, spans)
    except ImportError as error:
        raise ConfigurationError(
            f"ANTIPHON_METRICS=prometheus and ANTIPHON_OTLP_ENDPOINT need what is not installed ({error}): "
            "install antiphon[telemetry]."
        ) from error
    return Telemetry(metrics, spans, (observer,))


def headers_of(settings: Settings) -> Mapping[str, str]:
    """Returns the headers for the collector, from `name=value` with commas between.

    Raises:
        ConfigurationError: They have another form, or come from another place than the address.
    """
    if settings.mixed_telemetry_sources:
        raise ConfigurationError(settings.mixed_telemetry_sources)
    if settings.otlp_headers is None:
        return {}
    headers: dict[str, str] = {}
    for number, pair in enumerate(settings.otlp_headers.get_secret_value().split(",")):
        name, equals, value = pair.partition("=")
        # The message omits the value: it is a secret.
        if not equals or not name.strip():
            raise ConfigurationError(
                f"ANTIPHON_OTLP_HEADERS, entry {number + 1}: wanted name=value."
            )
        headers[name.strip().lower()] = value.strip()
    return headers
