"""What can be done with a recorded query: replay it, resume it, fork it, and compare it with another."""

from antiphon.history.changes import Change, change_event
from antiphon.history.diffing import Diff, Side, diff
from antiphon.history.divergence import Divergence
from antiphon.history.forking import Mode
from antiphon.history.history import History, replay_stored
from antiphon.history.origins import (
    Contribution,
    Origin,
    Sentence,
    answer_in,
    contributions,
    facts_in,
    found_passages,
    lineage,
)
from antiphon.history.regression_test import sealed_trace, trace_test
from antiphon.history.replay_run import ReplayRun
from antiphon.history.replaying import ReplayResult, replay, replay_lines

__all__ = [
    "Change",
    "Contribution",
    "Diff",
    "Divergence",
    "History",
    "Mode",
    "Origin",
    "ReplayResult",
    "ReplayRun",
    "Sentence",
    "Side",
    "answer_in",
    "change_event",
    "contributions",
    "diff",
    "facts_in",
    "found_passages",
    "lineage",
    "replay",
    "replay_lines",
    "replay_stored",
    "sealed_trace",
    "trace_test",
]
