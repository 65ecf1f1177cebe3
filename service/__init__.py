"""The composition root: settings, the one table of who hears what, and the service as a Python object."""

from service.again import Again, replay_stored
from service.antiphon import Antiphon, Question, Readiness
from service.building import Built, embedder_of, speaker_of
from service.caller import Caller, Outcome
from service.deciding import who_hears
from service.diffing import Diff, diff
from service.divergence import Divergence
from service.errors import BusyError
from service.forking import Change, Mode
from service.lineage import answer_in, contributions, lineage
from service.logs import configure_logging, silence_logging
from service.redaction import redaction_of
from service.replaying import Replayed, Replaying, replay, replay_lines
from service.running import Running
from service.sealing import sealed_trace, trace_test
from service.settings import Settings, load_settings
from service.totals import Totals
from service.wiring import Around, NothingAround, Parts, wire

__all__ = [
    "Again",
    "Antiphon",
    "Around",
    "Built",
    "BusyError",
    "Caller",
    "Change",
    "Diff",
    "Divergence",
    "Mode",
    "NothingAround",
    "Outcome",
    "Parts",
    "Question",
    "Readiness",
    "Replayed",
    "Replaying",
    "Running",
    "Settings",
    "Totals",
    "answer_in",
    "configure_logging",
    "contributions",
    "diff",
    "embedder_of",
    "lineage",
    "load_settings",
    "redaction_of",
    "replay",
    "replay_lines",
    "replay_stored",
    "sealed_trace",
    "silence_logging",
    "speaker_of",
    "trace_test",
    "who_hears",
    "wire",
]
