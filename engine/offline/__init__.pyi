"""A small Messages API in the process: it plans by rule, answers by extraction, and cites; or it plays a script."""

from antiphon.engine.offline.app import OfflineMessagesApi, body_of, offline_model
from antiphon.engine.offline.double import Double
from antiphon.engine.offline.playing import GARBAGE
from antiphon.engine.offline.script import Script, ScriptedReply, read_script
from antiphon.engine.offline.wire import OFFLINE, delta_events, error_of, sse_of

__all__ = [
    "GARBAGE",
    "OFFLINE",
    "Double",
    "OfflineMessagesApi",
    "Script",
    "ScriptedReply",
    "body_of",
    "delta_events",
    "error_of",
    "offline_model",
    "read_script",
    "sse_of",
]
