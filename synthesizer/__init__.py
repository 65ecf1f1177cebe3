"""What a query remembers, and what each reasoning call is shown of it."""

from synthesizer.briefing_view import BriefingView, briefings_of
from synthesizer.memory import Memory
from synthesizer.merging import place_of
from synthesizer.synthesizer import ContextSynthesizer
from synthesizer.viewing import MemoryView, memory_at

__all__ = ["BriefingView", "ContextSynthesizer", "Memory", "MemoryView", "briefings_of", "memory_at", "place_of"]
