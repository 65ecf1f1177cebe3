"""Checks of the house itself, run by `make check`, by the tests or by hand."""
