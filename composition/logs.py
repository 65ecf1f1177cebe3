"""Logging: structlog, for people on a terminal and as JSON elsewhere; the only place that configures it."""

from __future__ import annotations

import logging
import sys

import structlog
from structlog.typing import EventDict, Processor

from antiphon.composition.redaction import redaction_of
from antiphon.composition.settings import Settings
from antiphon.traces import Redaction


def configure_logging(settings: Settings) -> None:
    """Sets up structlog for this process. Lines go to standard error; each carries its session's bound values."""
    as_json = settings.log_format == "json" or (settings.log_format == "auto" and not sys.stderr.isatty())
    renderer: Processor = structlog.processors.JSONRenderer() if as_json else structlog.dev.ConsoleRenderer()
    redaction = redaction_of(settings)
    # A traceback is text before it is looked through; the console would otherwise format it by itself, later.
    errors: list[Processor] = [structlog.processors.format_exc_info] if as_json or redaction else []
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            *errors,
            *([blotting(redaction)] if redaction else []),
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, settings.log_level.upper())),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )


def blotting(redaction: Redaction) -> Processor:
    """Blots out of every line what must not be stored."""

    def blotted(value: object) -> object:
        if isinstance(value, bool | int | float) or value is None:
            return value
        said = value if isinstance(value, str) else str(value)
        return value if (shown := redaction.text(said)) == said else shown

    def process(_logger: object, _method: str, event: EventDict) -> EventDict:
        return {name: blotted(value) for name, value in event.items()}

    return process


def silence_logging() -> None:
    """Logs nothing in this process: for runs in which a thousand failures are meant (faults/)."""
    structlog.configure(processors=[_drop])


def _drop(_logger: object, _method: str, _event: EventDict) -> EventDict:
    raise structlog.DropEvent
