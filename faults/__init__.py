"""Fault injection: plans, the matrix of all single faults, and the promises that every run is checked for."""

from antiphon.exports import exports

__getattr__, __dir__ = exports(__name__, __file__)
