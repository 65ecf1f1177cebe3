"""One Messages API call as events: the engine, its prompt, its request, and the local Messages API."""

from engine.anthropic_model import AnthropicModel, connect
from engine.citation_style import CitationStyles
from engine.in_process import InProcessTransport
from engine.offline import OfflineMessagesApi, offline_model
from engine.profile import Profile
from engine.prompts import SYSTEM_VERSION
from engine.reasoning import ReasoningEngine
from engine.request import build_request, request_bytes, request_json

__all__ = [
    "SYSTEM_VERSION",
    "AnthropicModel",
    "CitationStyles",
    "InProcessTransport",
    "OfflineMessagesApi",
    "Profile",
    "ReasoningEngine",
    "build_request",
    "connect",
    "offline_model",
    "request_bytes",
    "request_json",
]
