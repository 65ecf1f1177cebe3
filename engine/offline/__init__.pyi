"""A small Messages API in the process: it plans by rule, answers by extraction, and cites; or it plays a script."""

from antiphon.engine.offline.app import OfflineMessagesApi, offline_model
from antiphon.engine.offline.double import Double
from antiphon.engine.offline.script import Script, ScriptedReply, read_script
from antiphon.engine.offline.wire import OFFLINE

__all__ = [
    "OFFLINE",
    "Double",
    "OfflineMessagesApi",
    "Script",
    "ScriptedReply",
    "offline_model",
    "read_script",
]
