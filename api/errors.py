"""The one shape of every refusal and failure, and the one table of error class to status."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.routing import compile_path
from starlette.types import ASGIApp

from antiphon.service import BusyError
from antiphon.vocabulary.access import without_keys
from antiphon.vocabulary.errors import (
    AmbiguousIdError,
    BadInputError,
    ConfigurationError,
    ForbiddenError,
    KnowledgeError,
    NotFoundError,
    QueueFullError,
    QuotaError,
    SequenceError,
    ServiceError,
    TraceError,
    TraceStateError,
    UnauthorizedError,
)

log = structlog.get_logger(__name__)

ErrorBody = dict[str, dict[str, str]]
"""The one shape: `error` with `code`, `message` and, for a query, `query_id`."""

STATUS_OF: dict[type[ServiceError], int] = {
    BadInputError: 422,
    ForbiddenError: 403,
    UnauthorizedError: 401,
    QuotaError: 429,
    NotFoundError: 404,
    AmbiguousIdError: 409,
    SequenceError: 409,
    TraceStateError: 409,
    QueueFullError: 429,
    BusyError: 503,
    ConfigurationError: 503,
    KnowledgeError: 503,
    TraceError: 503,
    ServiceError: 500,
}
"""The status of each of our errors; a class that is not in the table has the status of its nearest parent."""

_OF_STATUS = {
    404: ("not_found", "There is no such path here: see /docs for all paths."),
    405: ("method_not_allowed", "This path does not take that method: see /docs."),
}
STORE_AGAIN_S = 5
"""Seconds after which it is worth trying a store again: by then a lock is over, or the operator is at work."""
MOST_PROBLEMS = 5
MOST_NAMES = 5  # in the path to a field: our own fields are never nested deeper
FORMS = ("one", "several")  # alternatives of a field, whose names no caller knows
_NO_TEXT = "must be a text"
_NO_NUMBER = "must be a number"
_NO_WHOLE_NUMBER = "must be a whole number"
_NO_SWITCH = "must be true or false"
_NO_OBJECT = "must be an object"
_WRONG = {
    "missing": "is missing and must be sent",
    "string_type": _NO_TEXT,
    "string_too_long": "may have {max_length} characters at most",
    "string_too_short": "must have {min_length} characters at least",
    "string_pattern_mismatch": "has a form that is not known",
    "int_type": _NO_WHOLE_NUMBER,
    "int_parsing": _NO_WHOLE_NUMBER,
    "int_parsing_size": "is too large a number",
    "int_from_float": _NO_WHOLE_NUMBER,
    "float_type": _NO_NUMBER,
    "float_parsing": _NO_NUMBER,
    "finite_number": "must be a finite number",
    "bool_type": _NO_SWITCH,
    "bool_parsing": _NO_SWITCH,
    "greater_than_equal": "must be at least {ge}",
    "greater_than": "must be more than {gt}",
    "less_than_equal": "must be at most {le}",
    "literal_error": "must be one of {expected}",
    "list_type": "must be a list",
    "too_short": "must have {min_length} entries at least",
    "too_long": "may have {max_length} entries at most",
    "dict_type": _NO_OBJECT,
    "model_type": _NO_OBJECT,
    "model_attributes_type": _NO_OBJECT,
    "recursion_loop": "is nested too deep",
    "union_tag_invalid": "must be an object, or a list of them",
}
"""Problems of a field in plain words, by pydantic's type of error
(https://docs.pydantic.dev/latest/errors/validation_errors/)."""
_EXAMPLE = '{"query": "What is BM25?"}'
_BUG = "Something went wrong inside the service, and it was logged. Try again; if it stays, report it."


class Refusal(HTTPException):
    """A request that the API itself refuses."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(status, message)
        self.code = code

    def as_body(self) -> ErrorBody:
        return error_body(self.code, self.detail)

    def as_response(self) -> JSONResponse:
        return refuse(self.status_code, self.code, self.detail)


def refuse(
    status: int, code: str, message: str, query_id: str | None = None
) -> JSONResponse:
    """Builds the response to a caller. A connection with an unread body is closed after it."""
    headers = {"X-Content-Type-Options": "nosniff"}
    # The server would read the rest of the body as the next request.
    if status in (408, 413):
        headers["Connection"] = "close"
    if code == BusyError.code:
        headers["Retry-After"] = "1"
    return JSONResponse(error_body(code, message, query_id), status, headers)


def error_body(code: str, message: str, query_id: str | None = None) -> ErrorBody:
    """Builds the one error shape, without keys and half surrogate pairs, which `message` may quote from the caller."""
    # Half a surrogate pair cannot be sent as UTF-8.
    said = without_keys(message).encode(errors="replace").decode()
    error = {"code": code, "message": said}
    if query_id:
        error["query_id"] = query_id
    return {"error": error}


def status_of(error: ServiceError) -> int:
    """Returns the status of `error` from the table."""
    # In order of inheritance, so that the nearest parent decides.
    for kind in type(error).__mro__:
        if kind in STATUS_OF:
            return STATUS_OF[kind]
    return STATUS_OF[ServiceError]


def describe_failure(error: BaseException, query_id: str | None) -> ErrorBody:
    """Builds the error shape for a failure after a response has begun."""
    if isinstance(error, ServiceError):
        return error_body(error.code, str(error), query_id)
    return error_body("internal", _BUG, query_id)


def install_error_handlers(
    app: FastAPI,
    offered: Callable[[ASGIApp], ASGIApp] = lambda reply: reply,
    nothing: Callable[[Request], Response | None] | None = None,
) -> None:
    """Makes every error of `app` come in the one shape.

    Args:
        offered: Lets pages of other origins read a response. The response to a bug needs this, because Starlette sends
            it from outside the middleware that does so for others.
        nothing: Returns the page for an unknown path; None if the caller wants the one shape.
    """

    async def on_http_exception(request: Request, error: Exception) -> Response:
        is_unknown = isinstance(error, HTTPException) and error.status_code == 404
        if nothing is not None and is_unknown and not isinstance(error, Refusal):
            page = nothing(request)
            if page is not None:
                return page
        return await _on_http_exception(request, error)

    async def on_bug(request: Request, _: Exception) -> ASGIApp:
        return offered(_bug(request))

    app.add_exception_handler(ServiceError, _on_service_error)
    app.add_exception_handler(RequestValidationError, _on_invalid_request)
    app.add_exception_handler(HTTPException, on_http_exception)
    app.add_exception_handler(Exception, on_bug)  # type: ignore[arg-type]  # a response is only called


async def _on_service_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, ServiceError)
    status = status_of(error)
    # The caller sees their own mistakes; the operator has to see ours.
    if status >= 500:
        log.warning(
            "request_failed",
            code=error.code,
            detail=str(error),
            query_id=_query_id(request),
        )
    response = refuse(status, error.code, str(error), _query_id(request))
    if isinstance(error, QuotaError | BusyError):
        response.headers["Retry-After"] = str(max(1, math.ceil(error.retry_after_s)))
    elif isinstance(error, TraceError | KnowledgeError) and status == 503:
        response.headers["Retry-After"] = str(STORE_AGAIN_S)
    # https://www.rfc-editor.org/rfc/rfc9110#name-401-unauthorized: the response must name a way to authenticate.
    if isinstance(error, UnauthorizedError):
        response.headers["WWW-Authenticate"] = 'Bearer realm="antiphon"'
    return response


async def _on_invalid_request(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    problems = error.errors()
    if any(problem["type"] == "json_invalid" for problem in problems):
        position = problems[0]["loc"][-1]
        message = f"The body is not JSON (a mistake near character {position}): send an object such as {_EXAMPLE}."
        return refuse(400, "malformed_json", message)
    return refuse(422, "invalid_request", f"{in_words(problems)}.")


async def _on_http_exception(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    if isinstance(error, Refusal):
        return error.as_response()
    # FastAPI itself answers 400 if it cannot decode the body, before our handlers see it.
    if error.status_code == 400:
        message = f"The body cannot be read as JSON in UTF-8: send an object such as {_EXAMPLE}."
        return refuse(400, "malformed_json", message)
    code, message = _OF_STATUS.get(
        error.status_code, ("http_error", "This request cannot be answered: see /docs.")
    )
    response = refuse(error.status_code, code, message, _query_id(request))
    response.headers.update(error.headers or {})
    if error.status_code == 405:
        methods = _methods_of(request)
        # Pages are in no schema; for them the router has set the header already.
        if methods:
            response.headers["Allow"] = ", ".join(methods)
    return response


def _methods_of(request: Request) -> list[str]:
    """Returns all methods that the path takes: each has its own route, and the router names the method of one only."""
    path = request.scope["path"].removeprefix(request.scope["root_path"])
    methods: set[str] = set()
    for template, operations in request.app.openapi()["paths"].items():
        pattern, _, _ = compile_path(template)
        if pattern.match(path):
            methods |= {method.upper() for method in operations}
    if "GET" in methods:
        methods.add("HEAD")
    return sorted(methods)


def _bug(request: Request) -> JSONResponse:
    """Builds the response to an exception, of which the caller learns no details; the server logs them."""
    return refuse(500, "internal", _BUG, _query_id(request))


def _query_id(request: Request) -> str | None:
    return getattr(request.state, "query_id", None)


def in_words(problems: Sequence[Any]) -> str:
    """Lists the first validation problems as `field` and problem, without the values sent."""
    words: list[str] = []
    # A body can hold thousands of mistakes; the first few show the caller what to mend.
    for problem in problems[:MOST_PROBLEMS]:
        part, *path = problem["loc"]
        named = [str(each) for each in path if each not in FORMS]
        field = f"`{'.'.join(named[:MOST_NAMES])}`" if named else f"the {part}"
        words.append(f"{field} {_wrong(problem)}")
    return "; ".join(words)


def _wrong(problem: Any) -> str:
    """Words the problem of a field plainly; in the library's own words if the rule is not in our table."""
    kind = problem["type"]
    # Pydantic reports a text's length as that of a list if another validator has run before.
    if kind in ("too_short", "too_long") and isinstance(problem["input"], str):
        kind = f"string_{kind}"
    words = _WRONG.get(kind)
    if words is None:
        return str(problem["msg"]).removeprefix("Value error, ")
    context = problem.get("ctx", {})
    if context.get("min_length") == 1:
        return "must not be empty"
    return words.format_map(context)
