"""The service over HTTP: JSON and live events, one error shape."""

from api.answer import QueryAnswer, answer_of
from api.app import create_app

__all__ = ["QueryAnswer", "answer_of", "create_app"]
