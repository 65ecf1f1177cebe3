"""What a query remembers, and what each reasoning call is shown of it."""

from synthesizer.memory import Memory
from synthesizer.synthesizer import ContextSynthesizer
from synthesizer.viewing import MemoryView, memory_at

__all__ = ["ContextSynthesizer", "Memory", "MemoryView", "memory_at"]
