"""The refusals in the published schema, by the kinds of routes that may give them."""

from __future__ import annotations

from typing import Any

from antiphon.api.bodies import JSON
from antiphon.api.openapi import schema_at
from antiphon.api.schemas import ErrorReply


def _documented(status: int, description: str) -> dict[int | str, dict[str, Any]]:
    # By reference: from a model FastAPI would make a decoder for each of 400 refusals, at every start.
    content = {JSON: {"schema": schema_at("ErrorReply")}}
    return {status: {"description": description, "content": content}}


ALWAYS = (
    _documented(400, "The request cannot be read, or names a host that this is not.")
    | _documented(
        422, "Something in the request cannot be used; the message says what and why."
    )
    | _documented(401, "The service asks for a key, and the request has no valid one.")
    | _documented(403, "The key may not do that, or the service does not allow it.")
    | _documented(
        429,
        "A limit of the key or its tenant is reached: `Retry-After` has the seconds.",
    )
    | _documented(500, "An internal error of the service, without details.")
)
"""The refusals of every route, for its documentation."""

FORBIDDEN = _documented(
    403, "This service does not allow it, or a page of another site asked for it."
)
"""The refusal of a route that changes something."""

WITH_BODY = (
    _documented(408, "The body came too slowly.")
    | _documented(413, "The body is too large.")
    | _documented(415, "The body is not declared as it must be.")
    | FORBIDDEN
)
"""The refusals of a route that takes a body."""
# One of them names the model, so that FastAPI publishes the schema to which all refer.
WITH_BODY[408]["model"] = ErrorReply

WITH_NAME = _documented(404, "Nothing has that name.")
"""The refusals of a route that names something."""

WITH_TRACE = WITH_NAME | _documented(
    409, "Several traces' ids begin like that; the message names some."
)
"""The refusals of a route that names a trace, by its id or enough of its beginning."""

NOT_NOW = _documented(
    409,
    "Not in its present state: it runs or is over, it exists already, or several ids begin like that.",
)
"""The refusal of a route that needs the trace in a certain state."""

FULL = _documented(
    429,
    "A share is used up, or so many queries wait that one more would wait too long.",
)
"""The refusal of a route that asks a question."""

UNAVAILABLE = _documented(
    503,
    "Busy, closing, or the index or the traces cannot be used now; the message says which.",
)
"""The refusals of a route that needs the service's stores."""
