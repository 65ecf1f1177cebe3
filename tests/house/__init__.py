"""Checks of the repository itself, run by `make check`, by the tests or by hand."""
