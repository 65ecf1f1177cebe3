"""Queries in a queue: one process takes the questions, others work on them, over the cluster's servers."""

from antiphon.cluster import DeadQuery, QueuedQuery, QueueState
from antiphon.workers.membership import Membership
from antiphon.workers.opening import connected, queue_of, shared_limits, shared_store
from antiphon.workers.remote_parts import (
    PerformedElsewhere,
    check_room,
    connection_of,
    hosted,
    performed_elsewhere,
)
from antiphon.workers.shared_access import share_keys, shares_of_all
from antiphon.workers.worker_health import Health, answering

__all__ = [
    "DeadQuery",
    "Health",
    "Membership",
    "PerformedElsewhere",
    "QueueState",
    "QueuedQuery",
    "answering",
    "check_room",
    "connected",
    "connection_of",
    "hosted",
    "performed_elsewhere",
    "queue_of",
    "share_keys",
    "shared_limits",
    "shared_store",
    "shares_of_all",
]
