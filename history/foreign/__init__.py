"""Reads traces of other programs into recorded queries: a reader for each form, one neutral value, one writer."""

from antiphon.exports import exports

__getattr__, __dir__ = exports(__name__, __file__)
