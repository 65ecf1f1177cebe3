"""One Messages API call as events: the engine, its prompt, its request, and the local Messages API."""

from engine.anthropic_model import AnthropicModel, connect
from engine.fold import events_of, reply_of
from engine.in_process import InProcessTransport
from engine.offline import OfflineMessagesApi, offline_model
from engine.prompts import SYSTEM_VERSION
from engine.reasoning import ReasoningEngine
from engine.request import build_request, request_bytes, request_json

__all__ = [
    "SYSTEM_VERSION",
    "AnthropicModel",
    "InProcessTransport",
    "OfflineMessagesApi",
    "ReasoningEngine",
    "build_request",
    "connect",
    "events_of",
    "offline_model",
    "reply_of",
    "request_bytes",
    "request_json",
]
