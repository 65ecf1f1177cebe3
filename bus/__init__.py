"""The bus: each query's mailbox, recorded before anything acts on it, and all that a query owns until it ends."""

from bus.bus import Bus
from bus.cause import handled_seq
from bus.clock import SystemClock
from bus.followers import Follower
from bus.ports import Components, Handler, Ports, Step, Subscription
from bus.session import Session
from bus.stall import StallCount
from bus.waiters import Table, Waiting
from bus.waiters import fold as fold_waiters

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
