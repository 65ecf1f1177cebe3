"""Reads traces of other programs into recorded queries: a reader for each form, one neutral value, one writer."""

from antiphon.history.foreign.atif import atif_of
from antiphon.history.foreign.reading import ImportedFile, read_foreign

__all__ = ["ImportedFile", "atif_of", "read_foreign"]
