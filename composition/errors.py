"""The refusals that only a running service can give."""

from __future__ import annotations

from antiphon.vocabulary.errors import ServiceError


class BusyError(ServiceError):
    """As many queries as the settings allow are running, or the service is closing."""

    code = "busy"
