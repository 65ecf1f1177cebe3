"""The Messages API as its documentation has it: which requests it refuses, how it thinks, and what it bills."""

from antiphon.exports import exports

__getattr__, __dir__ = exports(__name__, __file__)
