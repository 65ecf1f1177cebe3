"""A small Messages API in the process: it plans by rule, answers by extraction, and cites."""

from engine.offline.app import OfflineMessagesApi
from engine.offline.model import offline_model

__all__ = ["OfflineMessagesApi", "offline_model"]
