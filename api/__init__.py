"""The service over HTTP: JSON and live events, one error shape."""

from antiphon.api.answer import QueryAnswer, answer_of
from antiphon.api.app import create_app
from antiphon.api.facade import AroundOf
from antiphon.api.under_way import cancel_queries

__all__ = ["AroundOf", "QueryAnswer", "answer_of", "cancel_queries", "create_app"]
