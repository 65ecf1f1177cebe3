"""The `antiphon` command."""

from cli.entry import main

__all__ = ["main"]
