"""Apps for tests, one after another: building one and its schema takes a third of a second, and FastAPI keeps it."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from fastapi import FastAPI

from antiphon.api import InterceptorOf, create_app
from antiphon.api.app import start_afresh
from antiphon.api.dependencies import ServiceOpener
from antiphon.doors import doors_of
from antiphon.doors.choosing import DOORS
from antiphon.service import Settings
from antiphon.vocabulary.access import NOBODY

_Key = tuple[object, ...]

ALL_DOORS = doors_of(Settings.model_construct(doors=",".join(DOORS)))
"""Every door, so that what holds of each route is tested of theirs too."""


class Apps:
    """Builds an app, or hands out one that was given back: nothing of its earlier use is left in it."""

    def __init__(self) -> None:
        self._free: dict[_Key, list[FastAPI]] = defaultdict(list)

    def take(
        self,
        settings: Settings,
        open_service: ServiceOpener,
        interceptor_of: InterceptorOf | None = None,
    ) -> FastAPI:
        """An app as `create_app` builds it."""
        free = self._free[_key(settings)]
        if free:
            app = free.pop()
            start_afresh(app, interceptor_of)
        else:
            app = new_app(settings, interceptor_of)
        app.state.open_service = open_service
        return app

    def give_back(self, settings: Settings, app: FastAPI) -> None:
        """Ends the use of an app that was taken with these settings."""
        self._free[_key(settings)].append(app)


APPS = Apps()


def new_app(settings: Settings, interceptor_of: InterceptorOf | None) -> FastAPI:
    """An app that opens whatever `app.state.open_service` opens."""

    async def opened(_: Settings) -> Any:
        service = await app.state.open_service(settings)
        # The schema holds the events of the service's subscribers, and says whether keys are asked for.
        described = (service.catalog, service.public_principal() == NOBODY)
        if getattr(app.state, "described", None) != described:
            app.openapi_schema = None
        app.state.described = described
        return service

    app = create_app(settings, opened, interceptor_of, doors=ALL_DOORS)
    return app


def _key(settings: Settings) -> _Key:
    """All that the building of an app reads of the settings."""
    return (
        settings.host,
        settings.allowed_hosts,
        "allowed_hosts" in settings.model_fields_set,
        settings.allowed_origins,
        settings.root_path,
        settings.metrics,
        settings.otlp_endpoint,
    )
