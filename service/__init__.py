"""The composition root: settings, the one table of who hears what, and the service as a Python object."""

from antiphon.service.again import Again, replay_stored
from antiphon.service.antiphon import Antiphon, Question, Readiness
from antiphon.service.building import Built, embedder_of, speaker_of
from antiphon.service.caller import Caller, Outcome
from antiphon.service.deciding import who_hears
from antiphon.service.diffing import Diff, diff
from antiphon.service.divergence import Divergence
from antiphon.service.errors import BusyError
from antiphon.service.forking import Change, Mode
from antiphon.service.lineage import answer_in, contributions, lineage
from antiphon.service.logs import configure_logging, silence_logging
from antiphon.service.redaction import redaction_of
from antiphon.service.replaying import Replayed, Replaying, replay, replay_lines
from antiphon.service.running import Running
from antiphon.service.sealing import sealed_trace, trace_test
from antiphon.service.settings import Settings, load_settings
from antiphon.service.totals import Totals
from antiphon.service.wiring import Around, NothingAround, Parts, wire

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
