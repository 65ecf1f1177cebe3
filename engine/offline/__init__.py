"""A small Messages API in the process: it plans by rule, answers by extraction, and cites; or it plays a script."""

from engine.offline.app import OfflineMessagesApi
from engine.offline.double import Double
from engine.offline.model import offline_model
from engine.offline.script import Script, ScriptedReply, read_script

__all__ = ["Double", "OfflineMessagesApi", "Script", "ScriptedReply", "offline_model", "read_script"]
