"""The composition root: settings, the one table of who hears what, and the service as a Python object."""

from service.again import Again
from service.antiphon import Antiphon, Question, Readiness
from service.caller import Outcome
from service.errors import BusyError
from service.logs import configure_logging
from service.running import Running
from service.settings import Settings, load_settings

__all__ = [
    "Again",
    "Antiphon",
    "BusyError",
    "Outcome",
    "Question",
    "Readiness",
    "Running",
    "Settings",
    "configure_logging",
    "load_settings",
]
