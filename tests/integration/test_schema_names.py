"""The names of schemas, by which clients generated from the published one call their classes."""

import pytest
from fastapi import APIRouter
from fastapi.openapi.utils import get_openapi
from pydantic import create_model

from antiphon.api import Door, create_app
from antiphon.api.door import GuardedRoute, needs
from antiphon.service import load_settings
from tests.apps import ALL_DOORS


def changed_by(doors: tuple[Door, ...]) -> set[str]:
    """The names under which the published schema differs from that of their route, or of the API without doors."""
    app = create_app(load_settings(), doors=doors)
    of_routes = get_openapi(title="", version="", routes=app.routes)
    alone = create_app(load_settings()).openapi()
    published = app.openapi()["components"]["schemas"]
    return {
        name
        for before in (of_routes, alone)
        for name, schema in before["components"]["schemas"].items()
        if published.get(name) != schema
    }


def test_no_schema_takes_the_place_of_another_of_its_name() -> None:
    # What a trace holds is known only with the subscribers of the service.
    assert changed_by(ALL_DOORS) == changed_by(()) == {"TraceReply"}


@pytest.mark.parametrize("name", ["Message", "QueryAnswer"])
def test_a_model_of_a_door_that_is_called_like_one_of_ours_is_found(name: str) -> None:
    router = APIRouter(route_class=GuardedRoute)

    @router.post("/planted", dependencies=[needs("ask")])
    async def planted(body: create_model(name, planted=int)) -> None:  # type: ignore[valid-type]
        """Does nothing."""

    assert name in changed_by((Door(router),))
