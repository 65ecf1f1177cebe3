"""The composition root: settings, the one table of who hears what, and the service as a Python object."""

from service.antiphon import Antiphon, Question, Readiness, Running
from service.building import embedder_of, speaker_of
from service.caller import Outcome
from service.errors import BusyError
from service.logs import configure_logging
from service.settings import Settings, load_settings

__all__ = [
    "Antiphon",
    "BusyError",
    "Outcome",
    "Question",
    "Readiness",
    "Running",
    "Settings",
    "configure_logging",
    "embedder_of",
    "load_settings",
    "speaker_of",
]
