"""Decides what kind of answer a question wants, by the way it is asked and the courses that there are."""

from antiphon.engine.offline.intents.clauses import EXACT
from antiphon.engine.offline.intents.inquiry import Inquiry, Side, who_speaks
from antiphon.engine.offline.intents.understanding import understand

__all__ = ["EXACT", "Inquiry", "Side", "understand", "who_speaks"]
