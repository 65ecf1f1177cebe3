"""Puts one machine together: settings, shared resources, a query's first event, and the tables of its components."""

from antiphon.exports import exports

__getattr__, __dir__ = exports(__name__, __file__)
