"""A small Messages API in the process, which plans by rule, answers by extraction, and cites, or plays a script."""

from antiphon.engine.offline.app import OfflineMessagesApi, offline_model
from antiphon.engine.offline.double import Call, Double
from antiphon.engine.offline.playing import GARBAGE, Act, Played
from antiphon.engine.offline.script import Break, Script, ScriptedReply, read_script
from antiphon.engine.offline.wire import OFFLINE, delta_events, error_of, sse_of

__all__ = [
    "GARBAGE",
    "OFFLINE",
    "Act",
    "Break",
    "Call",
    "Double",
    "OfflineMessagesApi",
    "Played",
    "Script",
    "ScriptedReply",
    "delta_events",
    "error_of",
    "offline_model",
    "read_script",
    "sse_of",
]
