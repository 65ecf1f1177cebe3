"""The one shape of every refusal and failure, and the one table of error class to status."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from antiphon.api.schemas import ErrorReply
from antiphon.service import BusyError
from antiphon.vocabulary.errors import (
    BadInputError,
    ConfigurationError,
    FaultPlanError,
    KnowledgeError,
    NotFoundError,
    ServiceError,
    TraceError,
)

log = structlog.get_logger(__name__)

STATUS_OF: dict[type[ServiceError], int] = {
    BadInputError: 400,
    FaultPlanError: 422,
    NotFoundError: 404,
    BusyError: 503,
    ConfigurationError: 503,
    KnowledgeError: 503,
    TraceError: 503,
    ServiceError: 500,
}
"""The status of each of our errors; a class that is not named here has that of its nearest parent."""

_OF_STATUS = {
    404: ("not_found", "There is no such path here: see /docs for those there are."),
    405: ("method_not_allowed", "This path does not take that method: see /docs."),
}
_EXAMPLE = '{"query": "What is BM25?"}'
_BUG = "Something went wrong inside the service, and it was logged. Try again; if it stays, report it."


class Refusal(HTTPException):
    """A request that the API itself refuses."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(status, message)
        self.code = code

    def as_response(self) -> JSONResponse:
        return refuse(self.status_code, self.code, self.detail)


def refuse(
    status: int, code: str, message: str, query_id: str | None = None
) -> JSONResponse:
    """Builds the response to a caller. A connection whose body was left unread is closed."""
    headers = {"X-Content-Type-Options": "nosniff"}
    # What is left of the body would be read as the next request.
    if status == 413:
        headers["Connection"] = "close"
    if code == BusyError.code:
        headers["Retry-After"] = "1"
    return JSONResponse(error_body(code, message, query_id), status, headers)


def error_body(
    code: str, message: str, query_id: str | None = None
) -> dict[str, dict[str, str]]:
    """Builds the one error shape; `message` may hold what a caller sent, so half surrogates are made harmless."""
    # A half surrogate could not be sent as UTF-8.
    error = {"code": code, "message": message.encode(errors="replace").decode()}
    if query_id:
        error["query_id"] = query_id
    return {"error": error}


def status_of(error: ServiceError) -> int:
    """Returns the status of `error`, by the table."""
    # In order of inheritance, so that the nearest parent decides.
    for kind in type(error).__mro__:
        if kind in STATUS_OF:
            return STATUS_OF[kind]
    return STATUS_OF[ServiceError]


def describe_failure(
    error: BaseException, query_id: str | None
) -> dict[str, dict[str, str]]:
    """Builds the error shape of a failure that came after an answer had begun."""
    if isinstance(error, ServiceError):
        return error_body(error.code, str(error), query_id)
    return error_body("internal", _BUG, query_id)


def install_error_handlers(app: FastAPI) -> None:
    """Makes every error of `app` come in the one shape."""
    app.add_exception_handler(ServiceError, _on_service_error)
    app.add_exception_handler(RequestValidationError, _on_invalid_request)
    app.add_exception_handler(HTTPException, _on_http_exception)
    app.add_exception_handler(Exception, _on_bug)


async def _on_service_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, ServiceError)
    status = status_of(error)
    # A caller's mistake is the caller's to see; one of ours is the operator's.
    if status >= 500:
        log.warning(
            "request_failed",
            code=error.code,
            detail=str(error),
            query_id=_query_id(request),
        )
    return refuse(status, error.code, str(error), _query_id(request))


async def _on_invalid_request(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    problems = error.errors()
    if any(problem["type"] == "json_invalid" for problem in problems):
        position = problems[0]["loc"][-1]
        message = f"The body is not JSON (a mistake near character {position}): send an object such as {_EXAMPLE}."
        return refuse(400, "malformed_json", message)
    return refuse(422, "invalid_request", f"{_in_words(problems)}.")


async def _on_http_exception(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    if isinstance(error, Refusal):
        return error.as_response()
    # FastAPI's own 400 comes before our handlers see the body: it could not be decoded.
    if error.status_code == 400:
        message = f"The body cannot be read as JSON in UTF-8: send an object such as {_EXAMPLE}."
        return refuse(400, "malformed_json", message)
    code, message = _OF_STATUS.get(
        error.status_code, ("http_error", "This request cannot be answered: see /docs.")
    )
    response = refuse(error.status_code, code, message, _query_id(request))
    response.headers.update(error.headers or {})
    return response


async def _on_bug(request: Request, _: Exception) -> JSONResponse:
    """The server logs the exception itself; the caller gets no more than that there was one."""
    return refuse(500, "internal", _BUG, _query_id(request))


def _query_id(request: Request) -> str | None:
    return getattr(request.state, "query_id", None)


def _in_words(problems: Sequence[Any]) -> str:
    """Lists the first validation problems as `field: what is wrong`, without what was sent."""
    words: list[str] = []
    # A body can hold thousands of mistakes; the first few are enough to mend it.
    for problem in problems[:5]:
        part, *path = problem["loc"]
        field = f"the {part}"
        if path:
            field = f"`{'.'.join(map(str, path))}`"
        wrong = str(problem["msg"]).removeprefix("Value error, ")
        words.append(f"{field}: {wrong}")
    return "; ".join(words)


def _documented(status: int, description: str) -> dict[int | str, dict[str, Any]]:
    return {status: {"model": ErrorReply, "description": description}}


ALWAYS = (
    _documented(400, "The request cannot be used; the message says why.")
    | _documented(422, "A field is missing or has the wrong type.")
    | _documented(500, "A mistake of the service; nothing of its inside is told.")
)
"""The refusals of every route, for its documentation."""

WITH_BODY = _documented(413, "The body is too large.") | _documented(
    415, "The body is not declared as JSON."
)
"""Those of a route that takes a body."""

WITH_NAME = _documented(404, "There is none of that name.")
"""Those of a route that names something."""

UNAVAILABLE = _documented(
    503,
    "Busy, closing, or the index or the traces cannot be used now; the message says which.",
)
"""Those of a route that needs the service's stores."""
