"""One Messages API call as events: the engine, its prompt, its request, and the local Messages API."""

from engine.anthropic_model import AnthropicModel, connect
from engine.capabilities import Finding, find_capabilities
from engine.citation_style import CitationStyles
from engine.in_process import InProcessTransport
from engine.offline import Double, OfflineMessagesApi, Script, ScriptedReply, offline_model, read_script
from engine.prices import rate_of
from engine.profile import Profile
from engine.prompts import SUMMARY_PROMPT, SYSTEM_VERSION
from engine.reasoning import ReasoningEngine
from engine.request import build_request, fixed_size, request_bytes, request_json, request_size
from engine.summarising import SummaryEngine, prepare_summary
from engine.whole import events_of, reply_of

__all__ = [
    "SUMMARY_PROMPT",
    "SYSTEM_VERSION",
    "AnthropicModel",
    "CitationStyles",
    "Double",
    "Finding",
    "InProcessTransport",
    "OfflineMessagesApi",
    "Profile",
    "ReasoningEngine",
    "Script",
    "ScriptedReply",
    "SummaryEngine",
    "build_request",
    "connect",
    "events_of",
    "find_capabilities",
    "fixed_size",
    "offline_model",
    "prepare_summary",
    "rate_of",
    "read_script",
    "reply_of",
    "request_bytes",
    "request_json",
    "request_size",
]
