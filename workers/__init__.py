"""Queries that wait in a queue: asked in one process, worked on in others, over the cluster's servers."""

from antiphon.exports import exports

__getattr__, __dir__ = exports(__name__, __file__)
