"""Checks of the house itself that can also be run by hand."""
