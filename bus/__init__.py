"""The bus: each query's mailbox, recorded before anything acts on it, and all that a query owns until it ends."""

from antiphon.bus.bus import Bus
from antiphon.bus.cause import handled_seq
from antiphon.bus.clock import SystemClock
from antiphon.bus.followers import Follower
from antiphon.bus.ports import Components, Handler, Ports, Step, Subscription
from antiphon.bus.session import Session
from antiphon.bus.stall import StallCount
from antiphon.bus.waiters import Table, Waiting
from antiphon.bus.waiters import fold as fold_waiters

__all__ = [
    "Bus",
    "Components",
    "Follower",
    "Handler",
    "Ports",
    "Session",
    "StallCount",
    "Step",
    "Subscription",
    "SystemClock",
    "Table",
    "Waiting",
    "fold_waiters",
    "handled_seq",
]
