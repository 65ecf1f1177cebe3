"""The bus: each query's mailbox, recorded before anything acts on it, and everything a query owns until it ends."""

from antiphon.bus.bus import Bus, SystemClock
from antiphon.bus.followers import Follower, FollowerItem
from antiphon.bus.mailbox import handled_seq
from antiphon.bus.pending import Pending, PendingTable, fold_pending
from antiphon.bus.performing import Performing
from antiphon.bus.recorder import APPEND_S
from antiphon.bus.session import Components, Session, Step
from antiphon.bus.stalls import StallCount
from antiphon.bus.watchdog import BUS_ENTRIES, LoopWatchdog

__all__ = [
    "APPEND_S",
    "BUS_ENTRIES",
    "Bus",
    "Components",
    "Follower",
    "FollowerItem",
    "LoopWatchdog",
    "Pending",
    "PendingTable",
    "Performing",
    "Session",
    "StallCount",
    "Step",
    "SystemClock",
    "fold_pending",
    "handled_seq",
]
