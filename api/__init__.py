"""The service over HTTP: JSON and live events, one error shape."""

from antiphon.api.app import create_app
from antiphon.api.dependencies import FaultOf, InterceptorOf, cancel_queries
from antiphon.api.guards import is_loopback
from antiphon.api.query_schemas import QueryAnswer, answer_of

__all__ = [
    "FaultOf",
    "InterceptorOf",
    "QueryAnswer",
    "answer_of",
    "cancel_queries",
    "create_app",
    "is_loopback",
]
