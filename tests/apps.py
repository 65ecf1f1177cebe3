"""Apps for one test after another: building an app and its schema takes a third of a second, and FastAPI caches it."""

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
"""Every door, so that tests of all routes include theirs."""


class Apps:
    """Builds an app, or hands out one that was given back, without a trace of its earlier use."""

    def __init__(self) -> None:
        self._free: dict[_Key, list[FastAPI]] = defaultdict(list)

    def take(
        self,
        settings: Settings,
        open_service: ServiceOpener,
        interceptor_of: InterceptorOf | None = None,
    ) -> FastAPI:
        """Returns an app like those that `create_app` builds."""
        free = self._free[_key(settings)]
        if free:
            app = free.pop()
            start_afresh(app, interceptor_of)
        else:
            app = new_app(settings, interceptor_of)
        app.state.open_service = open_service
        return app

    def give_back(self, settings: Settings, app: FastAPI) -> None:
        """Takes back an app that was taken with these settings."""
        self._free[_key(settings)].append(app)


APPS = Apps()


def new_app(settings: Settings, interceptor_of: InterceptorOf | None) -> FastAPI:
    """Builds an app that opens its service by `app.state.open_service`."""

    async def opened(_: Settings) -> Any:
        service = await app.state.open_service(settings)
        # The cached schema depends on the events of the service's subscribers and on whether it requires keys.
        described = (service.catalog, service.public_principal() == NOBODY)
        if getattr(app.state, "described", None) != described:
            app.openapi_schema = None
        app.state.described = described
        return service

    app = create_app(settings, opened, interceptor_of, doors=ALL_DOORS)
    return app


def _key(settings: Settings) -> _Key:
    """The settings that the building of an app depends on."""
    return (
        settings.host,
        settings.allowed_hosts,
        "allowed_hosts" in settings.model_fields_set,
        settings.allowed_origins,
        settings.root_path,
        settings.metrics,
        settings.otlp_endpoint,
    )
