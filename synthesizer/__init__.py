"""What a query remembers, and what each reasoning call is shown of it."""

from synthesizer.memory import Memory
from synthesizer.synthesizer import ContextSynthesizer

__all__ = ["ContextSynthesizer", "Memory"]
