from antiphon.cluster.connection import Cluster as Cluster
from antiphon.cluster.connection import connect as connect
from antiphon.cluster.streams import Naming as Naming
from antiphon.cluster.streams import make_streams as make_streams
from antiphon.cluster.trace_store import JetStreamTraceStore as JetStreamTraceStore

__all__ = ["Cluster", "JetStreamTraceStore", "Naming", "connect", "make_streams"]
