from antiphon.cluster.call_budget import SharedCallBudget as SharedCallBudget
from antiphon.cluster.connection import Cluster as Cluster
from antiphon.cluster.connection import connect as connect
from antiphon.cluster.late_connection import LateConnection as LateConnection
from antiphon.cluster.queue import JetStreamQueue as JetStreamQueue
from antiphon.cluster.queue_ports import NOT_RECORDED as NOT_RECORDED
from antiphon.cluster.queue_ports import Claim as Claim
from antiphon.cluster.queue_ports import ClaimCounts as ClaimCounts
from antiphon.cluster.queue_ports import DeadClaim as DeadClaim
from antiphon.cluster.queue_ports import DeadQuery as DeadQuery
from antiphon.cluster.queue_ports import QueryQueue as QueryQueue
from antiphon.cluster.queue_ports import QueuedQuery as QueuedQuery
from antiphon.cluster.queue_ports import QueueState as QueueState
from antiphon.cluster.queue_ports import Signals as Signals
from antiphon.cluster.queue_ports import Wish as Wish
from antiphon.cluster.queue_ports import WorkerReport as WorkerReport
from antiphon.cluster.remote_frames import Place as Place
from antiphon.cluster.remote_host import RemoteHost as RemoteHost
from antiphon.cluster.remote_link import Lease as Lease
from antiphon.cluster.remote_link import RemoteLink as RemoteLink
from antiphon.cluster.remote_outside import RemoteOutside as RemoteOutside
from antiphon.cluster.remote_outside import Room as Room
from antiphon.cluster.shared_circuit import SharedCircuit as SharedCircuit
from antiphon.cluster.shared_state import SharedState as SharedState
from antiphon.cluster.shared_state import SharedValue as SharedValue
from antiphon.cluster.signals import NatsSignals as NatsSignals
from antiphon.cluster.streams import Naming as Naming
from antiphon.cluster.streams import make_streams as make_streams
from antiphon.cluster.trace_ports import FollowedStore as FollowedStore
from antiphon.cluster.trace_ports import TraceEnd as TraceEnd
from antiphon.cluster.trace_ports import TraceFollowing as TraceFollowing
from antiphon.cluster.trace_store import JetStreamTraceStore as JetStreamTraceStore

__all__ = [
    "NOT_RECORDED",
    "Claim",
    "ClaimCounts",
    "Cluster",
    "DeadClaim",
    "DeadQuery",
    "FollowedStore",
    "JetStreamQueue",
    "JetStreamTraceStore",
    "LateConnection",
    "Lease",
    "Naming",
    "NatsSignals",
    "Place",
    "QueryQueue",
    "QueueState",
    "QueuedQuery",
    "RemoteHost",
    "RemoteLink",
    "RemoteOutside",
    "Room",
    "SharedCallBudget",
    "SharedCircuit",
    "SharedState",
    "SharedValue",
    "Signals",
    "TraceEnd",
    "TraceFollowing",
    "Wish",
    "WorkerReport",
    "connect",
    "make_streams",
]
