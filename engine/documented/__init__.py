"""The Messages API as documented: its refusals, its thinking, its cache and its bill."""

from antiphon.exports import exports

__getattr__, __dir__ = exports(__name__, __file__)
