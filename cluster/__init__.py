"""Shares traces, queries, live events and limits among machines, on NATS JetStream; the only importer of nats."""

from antiphon.exports import exports

__getattr__, __dir__ = exports(__name__, __file__)
