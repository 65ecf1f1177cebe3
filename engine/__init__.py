"""The reasoning engine: a Messages API call as events, its prompt and request, and the local Messages API."""

from antiphon.exports import exports

__getattr__, __dir__ = exports(__name__, __file__)
