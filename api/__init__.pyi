"""The service over HTTP: JSON and live events, one error shape."""

from antiphon.api.app import Door, create_app
from antiphon.api.dependencies import FaultOf, InterceptorOf, cancel_queries
from antiphon.api.query_schemas import QueryAnswer, answer_of
from antiphon.api.serving import STOPPING_S, serve, serve_app

__all__ = [
    "STOPPING_S",
    "Door",
    "FaultOf",
    "InterceptorOf",
    "QueryAnswer",
    "answer_of",
    "cancel_queries",
    "create_app",
    "serve",
    "serve_app",
]
