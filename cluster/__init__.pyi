from antiphon.cluster.call_budget import SharedCallBudget as SharedCallBudget
from antiphon.cluster.connection import Cluster as Cluster
from antiphon.cluster.connection import connect as connect
from antiphon.cluster.late_connection import LateConnection as LateConnection
from antiphon.cluster.queue import JetStreamQueue as JetStreamQueue
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
from antiphon.cluster.trace_store import JetStreamTraceStore as JetStreamTraceStore

__all__ = [
    "Cluster",
    "JetStreamQueue",
    "JetStreamTraceStore",
    "LateConnection",
    "Lease",
    "Naming",
    "NatsSignals",
    "Place",
    "RemoteHost",
    "RemoteLink",
    "RemoteOutside",
    "Room",
    "SharedCallBudget",
    "SharedCircuit",
    "SharedState",
    "SharedValue",
    "connect",
    "make_streams",
]
