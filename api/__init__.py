"""The service over HTTP: JSON and live events, one error shape."""

from antiphon.exports import exports

__getattr__, __dir__ = exports(__name__, __file__)
