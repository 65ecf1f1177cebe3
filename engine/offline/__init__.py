"""A small Messages API in the process: it plans by rule, answers by extraction, and cites; or it plays a script."""

from antiphon.exports import exports

__getattr__, __dir__ = exports(__name__, __file__)
