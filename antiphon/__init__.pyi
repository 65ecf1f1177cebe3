"""The types of the public API; __init__.py says what it is, and imports each name when it is first used."""

from antiphon.dispatcher import Tool, quotable
from antiphon.dispatcher import tool_from_function as tool
from antiphon.faults import Fault, Plan
from antiphon.service import (
    Antiphon,
    Question,
    Resources,
    Settings,
    ask,
    live_outside,
    load_settings,
)
from antiphon.service import Outcome as Answer
from antiphon.vocabulary import events
from antiphon.vocabulary.deciding import Decider, Rules
from antiphon.vocabulary.errors import (
    BadInputError,
    BusyError,
    NotFoundError,
    ServiceError,
)
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.performing import Command, Outside, Run
from antiphon.vocabulary.ports import Ports, Subscription, ToolOutput, on
from antiphon.vocabulary.subscribers import Subscriber, Surroundings

__all__ = [
    "Answer",
    "Antiphon",
    "BadInputError",
    "BusyError",
    "Command",
    "Decider",
    "Event",
    "Fault",
    "NotFoundError",
    "Outside",
    "Plan",
    "Ports",
    "Question",
    "Recorded",
    "Resources",
    "Rules",
    "Run",
    "ServiceError",
    "Settings",
    "Subscriber",
    "Subscription",
    "Surroundings",
    "Tool",
    "ToolOutput",
    "ask",
    "events",
    "live_outside",
    "load_settings",
    "on",
    "quotable",
    "tool",
]
