"""The `antiphon` command."""

from antiphon.cli.entry import main

__all__ = ["main"]
