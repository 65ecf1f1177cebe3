"""The door of the API: each route declares what its callers need, and the door lets a request in, or not, by that.

The door identifies the caller once, before anything of the body is read, as one value (`Principal`). Behind it, code
sees only the caller's view of the service.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import unquote

from fastapi import Depends, FastAPI, Request, Response
from fastapi.routing import APIRoute, iter_route_contexts
from starlette.datastructures import Headers

from antiphon.api.dependencies import refuse_unknown_parameters
from antiphon.api.errors import Refusal
from antiphon.api.guards import is_from_here
from antiphon.service import Antiphon
from antiphon.vocabulary.access import Principal, Scope, without_keys
from antiphon.vocabulary.errors import UnauthorizedError

Handler = Callable[[Request], Coroutine[Any, Any, Response]]

BEARER = "bearer"
SECURITY_SCHEMES = {
    "bearer": {
        "type": "http",
        "scheme": BEARER,
        "description": "A key that `antiphon keys add` made.",
    },
    "x-api-key": {"type": "apiKey", "in": "header", "name": "x-api-key"},
}
"""The two ways to send a key, as the published schema names them."""


@dataclass(frozen=True)
class Needs:
    """The scope that a route's callers need; None: nothing, not even a key."""

    scope: Scope | None

    async def __call__(self) -> None:
        """Does nothing: the door reads the scope from the route itself."""


@dataclass(frozen=True)
class HeadCheck:
    """A route's check of a request's head, besides the caller's scope.

    The door makes it before the body is read. As a dependency FastAPI would have to resolve it for each request, which
    takes longer than the check.
    """

    check: Callable[[Request], None]

    async def __call__(self) -> None:
        """Does nothing: the door calls `check`."""


def needs(scope: Scope) -> Any:
    """Declares the scope that a route's callers need; goes into its `dependencies`."""
    return Depends(Needs(scope))


def at_the_door(check: Callable[[Request], None]) -> Any:
    """Declares a check of the request's head; goes into a route's `dependencies`."""
    return Depends(HeadCheck(check))


OPEN_TO_ALL = Depends(Needs(None))
"""Declares that a route also answers callers without a key."""


class GuardedRoute(APIRoute):
    """A route behind the door. A route that declares nothing is a mistake, which importing its file reveals."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        self.checks: list[Callable[[Request], None]] = [refuse_unknown_parameters]
        declared: Needs | None = None
        left: list[Any] = []
        for each in options.pop("dependencies", None) or ():
            if isinstance(each.dependency, Needs):
                declared = each.dependency
            elif isinstance(each.dependency, HeadCheck):
                self.checks.append(each.dependency.check)
            else:
                left.append(each)
        if declared is None:
            raise TypeError(
                f"{path} does not say what its callers need: see api/door.py."
            )
        self.needs = declared
        super().__init__(path, endpoint, dependencies=left, **options)

    def get_route_handler(self) -> Handler:
        """Returns the route's handler with the door before it."""
        handle = super().get_route_handler()
        scope = self.needs.scope
        checks = tuple(self.checks)

        async def guarded(request: Request) -> Response:
            let_in(request, scope)
            for check in checks:
                check(request)
            return await handle(request)

        return guarded


def let_in(request: Request, scope: Scope | None) -> None:
    """Lets a request in, and puts the caller's view of the service into `request.state.service`.

    Raises:
        UnauthorizedError: A key is needed, and the request has none, or one that is not valid.
        ForbiddenError: The caller does not have the scope.
        Refusal: The key came in the address.
    """
    _refuse_key_in_address(request)
    # Such routes, like the check that the process is alive, must answer no matter what state the service is in.
    if scope is None:
        return
    service: Antiphon = request.app.state.service
    principal = Credentials.of(request.headers).principal(service)
    # For the access log: a key's id is no secret.
    request.state.key_id = principal.key_id or None
    principal.require(scope)
    request.state.service = service.seen_by(principal)


class Credentials(NamedTuple):
    """A request's evidence of its caller.

    Attributes:
        key: The caller's key; None: the request has none.
        from_here: True if the caller is on this machine.
    """

    key: str | None
    from_here: bool

    @classmethod
    def of(cls, headers: Headers) -> Credentials:
        """Reads the credentials of a request. Raises UnauthorizedError if the key has another form."""
        return cls(key_in(headers), is_from_here(headers))

    def principal(self, service: Antiphon) -> Principal:
        """Returns the caller, by the keys as they are now. Raises UnauthorizedError if they are not let in."""
        return service.principal_of(self.key, from_here=self.from_here)


def key_in(headers: Headers) -> str | None:
    """Returns the key in a request, from either header; from `Authorization` if it has both.

    Raises:
        UnauthorizedError: The key has another form.
    """
    scheme, _, bearer = headers.get("authorization", "").partition(" ")
    if scheme and scheme.lower() != BEARER:
        raise UnauthorizedError(
            "The Authorization header must be `Bearer KEY`; no other scheme is known here."
        )
    return bearer.strip() or headers.get("x-api-key", "").strip() or None


def guarded_routes(app: FastAPI) -> Sequence[tuple[str, str, Scope | None]]:
    """Returns method, path and needed scope of every route of the API.

    Raises:
        TypeError: A route is not behind the door.
    """
    found: list[tuple[str, str, Scope | None]] = []
    for context in iter_route_contexts(app.routes):
        route = context.original_route
        # The documentation's routes are FastAPI's own, and show no more than the schema does.
        if not isinstance(route, APIRoute) or not route.include_in_schema:
            continue
        if not isinstance(route, GuardedRoute):
            raise TypeError(f"{route.path} is not behind the door: see api/door.py.")
        for method in sorted(route.methods or ()):
            found.append((method, route.path, route.needs.scope))
    return found


def _refuse_key_in_address(request: Request) -> None:
    """Refuses a key in the address, even if none is needed: it is in logs and histories from now on."""
    asked = unquote(request.scope["query_string"].decode("latin-1"))
    address = f"{request.scope['path']}?{asked}"
    if without_keys(address) != address:
        raise Refusal(
            400,
            "key_in_address",
            "A key in an address is read by proxies, logs and histories: rotate it (`antiphon keys rotate`), and send "
            "it as `Authorization: Bearer KEY`.",
        )
