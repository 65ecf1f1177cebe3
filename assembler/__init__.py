"""The answer of a query: its text, citations and uncertainty."""

from assembler.assembler import ResponseAssembler
from assembler.last_resort import last_resort, said_incomplete
from assembler.uncertainty import DOUBTS, Doubt

__all__ = ["DOUBTS", "Doubt", "ResponseAssembler", "last_resort", "said_incomplete"]
