"""The bus: each query's mailbox, recorded before it is delivered, and everything the query owns until it ends."""

from bus.bus import Bus
from bus.clock import SystemClock
from bus.followers import Follower
from bus.ports import Components, Handler, Ports, Subscription
from bus.session import Session
from bus.waiters import Waiting

__all__ = ["Bus", "Components", "Follower", "Handler", "Ports", "Session", "Subscription", "SystemClock", "Waiting"]
