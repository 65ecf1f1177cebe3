"""No request of the REST API waits for a thread that it does not need."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute, iter_route_contexts

from antiphon.api import create_app
from antiphon.composition import load_settings


def calls_of(dependant: Dependant) -> Iterator[object]:
    yield dependant.call
    for further in dependant.dependencies:
        yield from calls_of(further)


def is_coroutine(call: object) -> bool:
    of_object = getattr(call, "__call__", None)  # noqa: B004 - the method, to look at
    return inspect.iscoroutinefunction(call) or inspect.iscoroutinefunction(of_object)


def test_routes_and_what_they_depend_on_are_coroutines_which_fastapi_runs_in_no_thread() -> (
    None
):
    seen = 0
    for context in iter_route_contexts(create_app(load_settings()).routes):
        route = context.original_route
        if not isinstance(route, APIRoute) or not route.include_in_schema:
            continue
        for call in calls_of(route.dependant):
            assert is_coroutine(call), (route.path, call)
            seen += 1

    assert seen > 100
