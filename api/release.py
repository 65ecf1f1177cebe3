"""Which release of Antiphon this is."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def release() -> str:
    """The installed distribution's version, or `0+source` where it runs without being installed."""
    try:
        return version("antiphon")
    except PackageNotFoundError:
        return "0+source"
