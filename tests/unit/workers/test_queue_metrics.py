"""The metrics of a queue: how it was at the last look, and what this process did with it."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families

from antiphon.cluster.queue_ports import QueueState
from antiphon.telemetry import Metrics
from antiphon.vocabulary.errors import BusyError
from antiphon.workers.queue_metrics import watch_queue


class Queue:
    """A queue that is there, or away."""

    def __init__(self) -> None:
        self.away = False
        self.now = QueueState(waiting=3, claimed=2, oldest_s=1.5, lanes=(1, 0, 2))

    async def state(self) -> QueueState:
        if self.away:
            raise BusyError("away", 1.0)
        return self.now

    async def count_dead(self) -> int:
        return 4


async def shown(metrics: Metrics) -> dict[str, float]:
    """Returns the samples of the queue and of claims, by name and labels."""
    found: dict[str, float] = {}
    for family in text_string_to_metric_families(await metrics.scrape()):
        for sample in family.samples:
            if "queue" in sample.name or "claims" in sample.name:
                name = " ".join([sample.name, *sample.labels.values()])
                found[name.removeprefix("antiphon_")] = sample.value
    return found


async def test_a_queue_is_shown_as_it_is_when_it_is_asked_for() -> None:
    metrics, queue = Metrics(), Queue()
    watch_queue(metrics, queue)

    before = await shown(metrics)
    queue.now = QueueState(lanes=(0, 0, 0))
    after = await shown(metrics)

    assert before == {
        "queue_reachable": 1,
        "queue_waiting 0": 1,
        "queue_waiting 1": 0,
        "queue_waiting 2": 2,
        "queue_oldest_seconds": 1.5,
        "queue_claimed": 2,
        "queue_dead": 4,
        "claims_held": 0,
        "claims_lost_total": 0,
    }
    assert after["queue_waiting 2"] == after["queue_claimed"] == 0


async def test_of_a_queue_that_is_away_only_that_and_the_own_claims_are_shown() -> None:
    metrics, queue = Metrics(), Queue()
    counts = watch_queue(metrics, queue)
    counts.claimed(1)
    queue.away = True

    found = await shown(metrics)

    assert found == {
        "queue_reachable": 0,
        "claims_held": 1,
        "claims_total first": 1,
        "claims_lost_total": 0,
    }


async def test_claims_are_counted_by_whether_another_worker_had_the_query() -> None:
    metrics = Metrics()
    counts = watch_queue(metrics, Queue())

    for deliveries in (1, 2, 5):
        counts.claimed(deliveries)
    counts.lost()
    counts.let_go()
    counts.given_up()
    found = await shown(metrics)

    assert (found["claims_total first"], found["claims_total over"]) == (1, 2)
    assert (found["claims_held"], found["claims_lost_total"]) == (2, 1)
    assert "antiphon_queries_given_up_total 1.0" in metrics.exposition()


async def test_a_process_without_a_queue_shows_none() -> None:
    text = await Metrics().scrape()

    assert "antiphon_queue_" not in text
