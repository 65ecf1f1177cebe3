"""The answer of a query: its text, citations and uncertainty."""

from antiphon.assembler.assembler import ResponseAssembler
from antiphon.assembler.last_resort import last_resort, said_incomplete
from antiphon.assembler.uncertainty import DOUBTS, Doubt

__all__ = ["DOUBTS", "Doubt", "ResponseAssembler", "last_resort", "said_incomplete"]
