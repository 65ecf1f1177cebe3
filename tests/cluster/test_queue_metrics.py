"""The queue of a cluster in the metrics of an API node and of workers, read over HTTP like Prometheus does."""

from __future__ import annotations

import httpx2
from prometheus_client.parser import text_string_to_metric_families

from tests.cluster.conftest import Started
from tests.cluster.processes import Process, waited

SHOWN = {"ANTIPHON_METRICS": "prometheus"}


class Watched:
    """The metrics of one process."""

    def __init__(self, url: str) -> None:
        self.url = f"{url}/metrics"

    def value(self, name: str, **labels: str) -> float | None:
        """Returns the sum of a metric's series with these labels; None if there are none."""
        found: list[float] = []
        for family in text_string_to_metric_families(httpx2.get(self.url).text):
            for sample in family.samples:
                if sample.name == name and labels.items() <= sample.labels.items():
                    found.append(sample.value)
        if not found:
            return None
        return sum(found)

    def comes_to(self, value: float, name: str, **labels: str) -> None:
        """Waits until a metric has this value."""
        waited(lambda: self.value(name, **labels), lambda found: found == value)


def health_of(worker: Process) -> Watched:
    said = worker.line_with("health at")
    return Watched(said.split("health at ")[1].split(";")[0])


def test_nodes_and_workers_show_the_queue_and_each_worker_its_own_work(
    started: Started, slow_model: str
) -> None:
    processes = started(slow_model, **SHOWN)
    node = processes.node()
    asked = Watched(node.url)
    query_id = node.begin()

    asked.comes_to(1, "antiphon_queue_waiting")
    waited(
        lambda: asked.value("antiphon_queue_oldest_seconds"), lambda found: found > 0
    )
    assert asked.value("antiphon_queue_reachable") == 1
    assert asked.value("antiphon_claims_held") == 0

    first = processes.worker("--health", "0")
    working = health_of(first)
    node.after(query_id, "reasoning_started")
    working.comes_to(1, "antiphon_claims_held")
    for each in (working, asked):
        assert each.value("antiphon_queue_claimed") == 1
        assert each.value("antiphon_queue_waiting") == 0
        assert each.value("antiphon_queue_dead") == 0
    assert working.value("antiphon_claims_total", taken="first") == 1

    # Kill it first: starting the other worker may take longer than the query has left.
    first.kill()
    taking_over = health_of(processes.worker("--health", "0"))
    assert node.answered(query_id)["status"] == "answered"

    taking_over.comes_to(0, "antiphon_claims_held")
    assert taking_over.value("antiphon_claims_total", taken="over") == 1
    assert taking_over.value("antiphon_claims_total", taken="first") is None
    asked.comes_to(0, "antiphon_queue_claimed")
