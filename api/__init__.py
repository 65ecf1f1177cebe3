"""The service over HTTP: JSON and live events, one error shape."""

from antiphon.api.app import create_app
from antiphon.api.dependencies import InterceptorOf, cancel_queries
from antiphon.api.query_schemas import QueryAnswer, answer_of

__all__ = ["InterceptorOf", "QueryAnswer", "answer_of", "cancel_queries", "create_app"]
