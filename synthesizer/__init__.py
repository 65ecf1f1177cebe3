"""A query's memory, and the part of it that each reasoning call sees."""

from antiphon.synthesizer.memory import Memory
from antiphon.synthesizer.merging import place_of
from antiphon.synthesizer.showing import show_sentences
from antiphon.synthesizer.synthesizer import ContextSynthesizer
from antiphon.synthesizer.views import BriefingView, MemoryView, briefings_of, memory_at

__all__ = [
    "BriefingView",
    "ContextSynthesizer",
    "Memory",
    "MemoryView",
    "briefings_of",
    "memory_at",
    "place_of",
    "show_sentences",
]
