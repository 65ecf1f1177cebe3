"""The service in other programs' protocols, each a thin package that the rest of the code does not know."""

from antiphon.exports import exports

__getattr__, __dir__ = exports(__name__, __file__)
