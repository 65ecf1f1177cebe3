"""The Messages API as documented: its refusals, its thinking, its cache and its bill."""

from antiphon.engine.documented.api import Billed, DocumentedApi
from antiphon.engine.documented.request import DocumentedRequest
from antiphon.engine.documented.rules import RULES, Refusal, refusals_of
from antiphon.engine.documented.two_rounds import play_two_rounds
from antiphon.engine.documented.writing import usual_thinking

__all__ = [
    "RULES",
    "Billed",
    "DocumentedApi",
    "DocumentedRequest",
    "Refusal",
    "play_two_rounds",
    "refusals_of",
    "usual_thinking",
]
