"""The service inside the command's own process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from antiphon.service import Antiphon, Settings, configure_logging, load_settings


def settings_for_people(**overrides: object) -> Settings:
    """The settings with logging turned down to warnings, for commands whose output people read.

    Raises:
        ConfigurationError: A value cannot be used.
    """
    settings = load_settings(**overrides)
    if settings.log_level == "info":
        settings = settings.model_copy(update={"log_level": "warning"})
    configure_logging(settings)
    return settings


@asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[Antiphon]:
    """The service, open; closed at the end, whatever happens.

    Raises:
        ServiceError: It cannot be opened.
    """
    service = await Antiphon.open(settings)
    try:
        yield service
    finally:
        await service.close()
