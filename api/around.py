"""What stands round a query that its caller wants broken."""

from __future__ import annotations

from fastapi import Request
from pydantic import JsonValue

from antiphon.api.facade import AroundOf
from antiphon.service import Interceptor
from antiphon.vocabulary.errors import BadInputError


def around_for(request: Request, faults: dict[str, JsonValue] | None) -> Interceptor | None:
    """What breaks the query by the fault plan that came with it; None where none came.

    Raises:
        BadInputError: It is no fault plan, or this service takes none.
    """
    if faults is None:
        return None
    around: AroundOf | None = request.app.state.around_of
    if around is None:
        raise BadInputError("Fault plans are not taken here: start the service with `antiphon serve --allow-faults`.")
    return around(faults)
