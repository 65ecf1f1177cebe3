"""The service in other programs' protocols, each a thin package that the rest of the code does not know."""

from antiphon.doors.choosing import doors_of
from antiphon.doors.mcp.server import serve_stdio

__all__ = ["doors_of", "serve_stdio"]
