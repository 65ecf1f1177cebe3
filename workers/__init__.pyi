"""Queries that wait in a queue: asked in one process, worked on in others, over the cluster's servers."""

from antiphon.workers.queue_admission import QueueAdmission
from antiphon.workers.remote_queries import BegunHere, RemoteQueries, followed
from antiphon.workers.sweeping import Sweeper
from antiphon.workers.worker import Worker
from antiphon.workers.worker_health import Health, answering

__all__ = [
    "BegunHere",
    "Health",
    "QueueAdmission",
    "RemoteQueries",
    "Sweeper",
    "Worker",
    "answering",
    "followed",
]
