from antiphon.cluster.connection import Cluster as Cluster
from antiphon.cluster.connection import connect as connect
from antiphon.cluster.queue import JetStreamQueue as JetStreamQueue
from antiphon.cluster.signals import NatsSignals as NatsSignals
from antiphon.cluster.streams import Naming as Naming
from antiphon.cluster.streams import make_streams as make_streams
from antiphon.cluster.trace_store import JetStreamTraceStore as JetStreamTraceStore

__all__ = [
    "Cluster",
    "JetStreamQueue",
    "JetStreamTraceStore",
    "Naming",
    "NatsSignals",
    "connect",
    "make_streams",
]
