"""Course documents: read, cut, embedded, stored and searched."""

from antiphon.exports import exports

__getattr__, __dir__ = exports(__name__, __file__)
