"""The service over HTTP: JSON and live events, one error shape."""

from api.answer import QueryAnswer, answer_of
from api.app import create_app
from api.facade import AroundOf
from api.under_way import cancel_queries

__all__ = ["AroundOf", "QueryAnswer", "answer_of", "cancel_queries", "create_app"]
