"""The answer of a query: its text, citations and uncertainty."""

from antiphon.assembler.assembler import ResponseAssembler, answer_so_far
from antiphon.assembler.drafts import last_resort, with_trace
from antiphon.assembler.uncertainty import DOUBTS, Doubt

__all__ = [
    "DOUBTS",
    "Doubt",
    "ResponseAssembler",
    "answer_so_far",
    "last_resort",
    "with_trace",
]
