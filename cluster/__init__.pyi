from antiphon.cluster.connection import Cluster as Cluster
from antiphon.cluster.connection import connect as connect
from antiphon.cluster.late_connection import LateConnection as LateConnection
from antiphon.cluster.remote_frames import Place as Place
from antiphon.cluster.remote_host import RemoteHost as RemoteHost
from antiphon.cluster.remote_link import Lease as Lease
from antiphon.cluster.remote_link import RemoteLink as RemoteLink
from antiphon.cluster.remote_work import Part as Part
from antiphon.cluster.streams import Naming as Naming
from antiphon.cluster.streams import make_streams as make_streams

__all__ = [
    "Cluster",
    "LateConnection",
    "Lease",
    "Naming",
    "Part",
    "Place",
    "RemoteHost",
    "RemoteLink",
    "connect",
    "make_streams",
]
