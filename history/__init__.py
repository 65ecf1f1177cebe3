"""What can be done with a recorded query: replay it, resume it, fork it, and compare it with another."""

from antiphon.exports import exports

__getattr__, __dir__ = exports(__name__, __file__)
