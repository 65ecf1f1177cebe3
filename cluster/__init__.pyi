from antiphon.cluster.connection import Cluster as Cluster
from antiphon.cluster.connection import connect as connect
from antiphon.cluster.streams import Naming as Naming
from antiphon.cluster.streams import make_streams as make_streams

__all__ = ["Cluster", "Naming", "connect", "make_streams"]
