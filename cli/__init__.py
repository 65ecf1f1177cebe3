"""The `antiphon` command."""

from antiphon.cli.process import main

__all__ = ["main"]
