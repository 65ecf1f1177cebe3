"""Queries in a queue: one process takes the questions, others work on them, over the cluster's servers."""

from antiphon.exports import exports

__getattr__, __dir__ = exports(__name__, __file__)
