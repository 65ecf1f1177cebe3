"""Replays, resumes, forks and compares recorded queries."""

from antiphon.history.changes import Change, change_event
from antiphon.history.diffing import Diff, Side, diff
from antiphon.history.divergence import Divergence
from antiphon.history.explaining import Difference
from antiphon.history.forking import Mode
from antiphon.history.history import History, replay_stored
from antiphon.history.origins import (
    CallStep,
    Contribution,
    Origin,
    Sentence,
    answer_in,
    contributions,
    facts_in,
    found_passages,
    lineage,
)
from antiphon.history.planning import ForkPlan
from antiphon.history.regression_test import trace_test
from antiphon.history.replay_run import ReplayRun
from antiphon.history.replaying import ReplayResult, replay, replay_lines
from antiphon.history.sealed import SealedReplay, replay_sealed, sealed_trace
from antiphon.history.suspicion import Suspect, suspects

__all__ = [
    "CallStep",
    "Change",
    "Contribution",
    "Diff",
    "Difference",
    "Divergence",
    "ForkPlan",
    "History",
    "Mode",
    "Origin",
    "ReplayResult",
    "ReplayRun",
    "SealedReplay",
    "Sentence",
    "Side",
    "Suspect",
    "answer_in",
    "change_event",
    "contributions",
    "diff",
    "facts_in",
    "found_passages",
    "lineage",
    "replay",
    "replay_lines",
    "replay_sealed",
    "replay_stored",
    "sealed_trace",
    "suspects",
    "trace_test",
]
