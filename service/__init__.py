"""The composition root: settings, the one table of who hears what, and the service as a Python object."""

from service.antiphon import Antiphon, Question, Readiness, Running
from service.building import Built, embedder_of
from service.caller import Caller, Outcome
from service.errors import BusyError
from service.logs import configure_logging, silence_logging
from service.settings import Settings, load_settings
from service.wiring import Around, NothingAround, Parts, wire

__all__ = [
    "Antiphon",
    "Around",
    "Built",
    "BusyError",
    "Caller",
    "NothingAround",
    "Outcome",
    "Parts",
    "Question",
    "Readiness",
    "Running",
    "Settings",
    "configure_logging",
    "embedder_of",
    "load_settings",
    "silence_logging",
    "wire",
]
