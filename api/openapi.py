"""The published schema: the typed events and views of the vocabulary, besides the types that routes declare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

from antiphon.api.bodies import JSON
from antiphon.api.door import SECURITY_SCHEMES, guarded_routes
from antiphon.api.draft_html import TextHtml
from antiphon.service import (
    BriefingView,
    Contribution,
    Diff,
    FaultReport,
    MemoryView,
    Sentence,
    Suspect,
)
from antiphon.vocabulary.access import NOBODY
from antiphon.vocabulary.catalog import BUILT_IN, Catalog
from antiphon.vocabulary.events import Live, Recorded
from antiphon.vocabulary.question_sets import QuestionSet
from antiphon.vocabulary.values import StoredText

_AT = "#/components/schemas/"
_RECORDED = "RecordedEvent"
_VIEWS = (
    Diff,
    MemoryView,
    BriefingView,
    Sentence,
    Contribution,
    Suspect,
    FaultReport,
    QuestionSet,
)

JsonSchema = dict[str, Any]


def schema_at(name: str) -> JsonSchema:
    """Returns a reference to one of the published schemas."""
    return {"$ref": f"{_AT}{name}"}


RECORDED: JsonSchema = schema_at(_RECORDED)
"""One event with its place in its trace."""

_SERVER_SENT: JsonSchema = {
    "type": "object",
    "title": "ServerSentEvent",
    "required": ["event", "data"],
    "properties": {
        "event": {"type": "string", "description": "The kind of what `data` holds."},
        "id": {
            "type": "string",
            "description": "The event's `seq`; only recorded events have one.",
        },
        "data": {
            "type": "string",
            "contentMediaType": "application/json",
            "contentSchema": {
                "anyOf": [
                    RECORDED,
                    schema_at("LiveEvent"),
                    schema_at("QueryAnswer"),
                    schema_at("ErrorReply"),
                ]
            },
        },
    },
}


def text_of_many(form: str, item: JsonSchema) -> JsonSchema:
    """Describes text of this media type that holds one item after another.

    The text is described as a string with a content schema, because OpenAPI 3.1 has no `itemSchema`, and generators of
    clients refuse unknown keywords.
    """
    text = {
        "type": "string",
        "contentMediaType": form,
        "contentSchema": {"type": "array", "items": item},
    }
    return {"schema": text}


EVENTS: JsonSchema = text_of_many("text/event-stream", schema_at("ServerSentEvent"))
"""The content of a stream of server-sent events."""


def operation_id(route: APIRoute) -> str:
    """Names an operation after its function, so that clients generated from the schema are readable."""
    return route.name


def publish_schema(app: FastAPI) -> None:
    """Makes the app publish its schema with the events of the service in it."""

    def described() -> JsonSchema:
        if app.openapi_schema is None:
            schema = get_openapi(
                title=app.title,
                version=app.version,
                summary=app.summary,
                description=app.description,
                routes=app.routes,
                servers=_servers(app),
            )
            _add(schema["components"]["schemas"], _catalog_of(app))
            _declare_errors_as_json(schema)
            _add_security(app, schema)
            app.openapi_schema = schema
        return app.openapi_schema

    app.openapi = described  # type: ignore[method-assign]  # as FastAPI's own guide on extending the schema does


def _add_security(app: FastAPI, schema: JsonSchema) -> None:
    """Declares which operations need a key, and which scope of it, if the service asks for keys."""
    service = getattr(app.state, "service", None)
    if service is None or service.public_principal() != NOBODY:
        return
    schema["components"]["securitySchemes"] = SECURITY_SCHEMES
    for method, path, scope in guarded_routes(app):
        operation = schema["paths"].get(path, {}).get(method.lower())
        if operation is not None and scope is not None:
            # Here the list holds roles: https://spec.openapis.org/oas/v3.1.0#security-requirement-object.
            operation["security"] = [{name: [scope]} for name in SECURITY_SCHEMES]


def _declare_errors_as_json(schema: JsonSchema) -> None:
    """Declares every error as JSON: FastAPI gives it the content type of the route's own answer."""
    for operations in schema["paths"].values():
        for operation in operations.values():
            for status, response in operation.get("responses", {}).items():
                if status.startswith("2"):
                    continue
                [*contents] = response.get("content", {}).values()
                if len(contents) == 1:
                    response["content"] = {JSON: contents[0]}


def _servers(app: FastAPI) -> list[JsonSchema] | None:
    return [{"url": app.root_path}] if app.root_path else None


def _catalog_of(app: FastAPI) -> Catalog:
    # A test, for example, builds the schema without a service.
    if service := getattr(app.state, "service", None):
        catalog: Catalog = service.catalog
        return catalog
    return BUILT_IN


def _add(schemas: JsonSchema, catalog: Catalog) -> None:
    """Adds the schemas of the vocabulary, and makes the schema of traces refer to them."""
    recorded: Any = Recorded[catalog.union]  # type: ignore[name-defined]  # made at run time
    (whole, live, *_), components = msgspec.json.schema_components(
        [recorded, Live | TextHtml, *_VIEWS],
        schema_hook=_stored_text,
        ref_template=f"{_AT}{{name}}",
    )
    components = dict(components)
    # msgspec gives it a name made of all kinds of events.
    components[_RECORDED] = components.pop(whole["$ref"].removeprefix(_AT)) | {
        "title": _RECORDED
    }
    components["LiveEvent"] = live | {"title": "LiveEvent"}
    components["ServerSentEvent"] = _SERVER_SENT
    _leave_lengths_to_bounds(components)
    schemas |= components
    schemas["TraceReply"]["properties"]["events"]["items"] = schema_at(_RECORDED)


def _leave_lengths_to_bounds(schema: Any) -> None:
    """Removes `items: false` from tuples: `maxItems` bounds their length already, and not every generator knows it."""
    if isinstance(schema, list):
        for part in schema:
            _leave_lengths_to_bounds(part)
    if isinstance(schema, dict):
        if "prefixItems" in schema and schema["items"] is False:
            del schema["items"]
        for part in schema.values():
            _leave_lengths_to_bounds(part)


def _stored_text(kind: type) -> JsonSchema:
    if kind is StoredText:
        return {"type": "string"}
    raise NotImplementedError(f"{kind} has no schema")


def lines_of(forms: Sequence[str]) -> dict[str, JsonSchema]:
    """Describes a trace as one event per line, for each of the media types."""
    return {form: text_of_many(form, RECORDED) for form in forms}
