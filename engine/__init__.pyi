"""The reasoning engine: a Messages API call as events, its prompt and request, and the local Messages API."""

from antiphon.engine.anthropic_model import AnthropicModel, connect
from antiphon.engine.body import read_whole
from antiphon.engine.capabilities import Finding, find_capabilities
from antiphon.engine.documented import DocumentedApi, refusals_of
from antiphon.engine.fold import reply_of
from antiphon.engine.in_process import RESET, InProcessTransport
from antiphon.engine.limited_model import (
    LimitedModel,
    LocalCallBudget,
    check_wait,
)
from antiphon.engine.models import (
    KNOWN_MODELS,
    PRICES_FROM,
    PRICES_OF,
    ModelTable,
    Price,
    read_prices,
    traits_of,
)
from antiphon.engine.offline import (
    GARBAGE,
    OFFLINE,
    Act,
    Break,
    Call,
    Double,
    OfflineMessagesApi,
    Played,
    Script,
    ScriptedReply,
    delta_events,
    error_of,
    offline_model,
    read_script,
    sse_of,
)
from antiphon.engine.preparing import (
    CacheMarks,
    PreparedRequest,
    prepare,
    prepare_rest,
    prepare_summary,
    prepare_wider,
    unmarked,
)
from antiphon.engine.prompts import (
    SUMMARY_PROMPT,
    SYSTEM_VERSION,
    system_prompt,
    write_catalogue,
)
from antiphon.engine.reasoning import ReasoningEngine
from antiphon.engine.reply import events_of
from antiphon.engine.request import (
    build_request,
    fixed_size,
    request_bytes,
    request_json,
    request_size,
)
from antiphon.engine.server_profile import CitationStyles
from antiphon.engine.speeds import ModelSpeeds
from antiphon.engine.summarising import SummaryEngine
from antiphon.engine.wire_json import read_object
from antiphon.vocabulary.values import Profile

__all__ = [
    "GARBAGE",
    "KNOWN_MODELS",
    "OFFLINE",
    "PRICES_FROM",
    "PRICES_OF",
    "RESET",
    "SUMMARY_PROMPT",
    "SYSTEM_VERSION",
    "Act",
    "AnthropicModel",
    "Break",
    "CacheMarks",
    "Call",
    "CitationStyles",
    "DocumentedApi",
    "Double",
    "Finding",
    "InProcessTransport",
    "LimitedModel",
    "LocalCallBudget",
    "ModelSpeeds",
    "ModelTable",
    "OfflineMessagesApi",
    "Played",
    "PreparedRequest",
    "Price",
    "Profile",
    "ReasoningEngine",
    "Script",
    "ScriptedReply",
    "SummaryEngine",
    "build_request",
    "check_wait",
    "connect",
    "delta_events",
    "error_of",
    "events_of",
    "find_capabilities",
    "fixed_size",
    "offline_model",
    "prepare",
    "prepare_rest",
    "prepare_summary",
    "prepare_wider",
    "read_object",
    "read_prices",
    "read_script",
    "read_whole",
    "refusals_of",
    "reply_of",
    "request_bytes",
    "request_json",
    "request_size",
    "sse_of",
    "system_prompt",
    "traits_of",
    "unmarked",
    "write_catalogue",
]
