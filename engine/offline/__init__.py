"""A small Messages API in the process, which plans by rule, answers by extraction, and cites, or plays a script."""

from antiphon.exports import exports

__getattr__, __dir__ = exports(__name__, __file__)
