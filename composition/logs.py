"""Configures structlog, for people on a terminal and as JSON elsewhere; no other module does."""

from __future__ import annotations

import logging
import sys
from types import NoneType

import structlog
from structlog.typing import EventDict, Processor

from antiphon.composition.redaction import redaction_of
from antiphon.composition.settings import Settings
from antiphon.traces import Redaction
from antiphon.vocabulary.outside import visible, without_userinfo

_OF_SEVERAL_LINES = ("exception", "stack")
_NUMBERS = (bool, int, float, NoneType)


def configure_logging(settings: Settings) -> None:
    """Sets up structlog for this process. Lines go to standard error; each carries its session's bound values.

    Lines that libraries log through Python's own module come out in the same way.
    """
    as_json = settings.log_format == "json"
    if settings.log_format == "auto":
        as_json = not sys.stderr.isatty()
    renderer: Processor = (
        structlog.processors.JSONRenderer()
        if as_json
        else structlog.dev.ConsoleRenderer()
    )
    processors: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        # Turns exceptions into text before the next processors see them: otherwise the console would print each frame
        # with its local variables, which hold texts of queries and keys.
        structlog.processors.format_exc_info,
        redacting_lines(redaction_of(settings)),
        harmless_line,
        renderer,
    ]
    structlog.configure(
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(
            getattr(logging, settings.log_level.upper())
        ),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    # The exporter logs each attempt: a night without a collector would fill the log. Our telemetry logs it once.
    logging.getLogger("opentelemetry.exporter").setLevel(logging.CRITICAL)
    # Likewise for servers that send malformed messages; dispatcher/mcp_servers logs the consequence.
    logging.getLogger("mcp").setLevel(logging.CRITICAL)
    root = logging.getLogger()
    # Added once; the root's level stays at Python's default, warnings.
    if not any(isinstance(handler, _FromLibraries) for handler in root.handlers):
        root.addHandler(_FromLibraries())


class _FromLibraries(logging.Handler):
    """Passes on the lines of libraries (asyncio, uvicorn), which would otherwise reach the terminal as they are."""

    def emit(self, record: logging.LogRecord) -> None:
        structlog.get_logger(record.name).log(
            record.levelno,
            record.getMessage(),
            logger=record.name,
            exc_info=record.exc_info,
        )


def harmless_line(_logger: object, _method: str, event: EventDict) -> EventDict:
    """Makes one line of the log harmless: no text steers the terminal or forges a line, no address holds a password."""
    text = _text_of(event)
    # Nearly every line is harmless, and one check of the whole costs a fraction of a check of each value.
    if text.isprintable() and "@" not in text:
        return event
    line: EventDict = {}
    for name, value in event.items():
        if isinstance(value, str):
            value = visible(without_userinfo(value))
            if name not in _OF_SEVERAL_LINES:
                value = value.replace("\n", "\\n")
        line[name] = value
    return line


def redacting_lines(redaction: Redaction) -> Processor:
    """Returns a processor that redacts every line of the log."""

    def redacted(value: object) -> object:
        if isinstance(value, bool | int | float) or value is None:
            return value
        text = str(value)
        shown = redaction.text(text)
        # A value without a secret keeps its type, because the renderer formats each type in its own way.
        if shown == text:
            return value
        return shown

    def process(_logger: object, _method: str, event: EventDict) -> EventDict:
        text = _text_of(event)
        # A quick check, which nearly every line passes. For ASCII alone: it encodes the text, and half a surrogate pair
        # has no encoding.
        if text.isascii() and redaction.needs_none((), (text,)):
            return event
        return {name: redacted(value) for name, value in event.items()}

    return process


def _text_of(event: EventDict) -> str:
    """Returns the text of a line without numbers; a blank between values keeps a match from spanning two of them."""
    said = [str(value) for value in event.values() if not isinstance(value, _NUMBERS)]
    return " ".join(said)


def silence_logging() -> None:
    """Turns off the log of this process, for runs that provoke failures by the thousand (faults/)."""
    structlog.configure(processors=[_drop])


def _drop(_logger: object, _method: str, _event: EventDict) -> EventDict:
    raise structlog.DropEvent
