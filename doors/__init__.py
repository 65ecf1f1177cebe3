"""The service in the protocols of others, each a thin package that the rest does not know."""

from antiphon.exports import exports

__getattr__, __dir__ = exports(__name__, __file__)
