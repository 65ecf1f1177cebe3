"""Queries that nobody would come to by himself: begun and in no queue, because their node was killed or the queue lost."""

from __future__ import annotations

from tests.cluster.conftest import Started
from tests.cluster.processes import is_whole, waited
from tests.trace_stores import connected


async def test_questions_whose_node_is_killed_and_whose_queue_is_lost_are_answered_by_the_next_worker(
    started: Started, nats_url: str, quick_model: str
) -> None:
    processes = started(quick_model, ANTIPHON_CLAIM_S="1")
    asked = processes.node()
    begun = [asked.begin(), asked.begin()]
    # It would answer them itself at their deadlines.
    asked.process.kill()
    async with connected(nats_url, processes.prefix) as cluster:
        await cluster.jetstream.delete_stream(cluster.naming.queries_stream)

    processes.worker()
    node = processes.node()
    states = [node.answered(query_id) for query_id in begun]

    assert [state["status"] for state in states] == ["answered", "answered"]
    for query_id in begun:
        assert is_whole(node.events(query_id))
        assert node.kinds(query_id).count("query_resumed") == 1


async def test_a_worker_that_runs_goes_on_when_the_queue_is_lost_beneath_it(
    started: Started, nats_url: str, quick_model: str
) -> None:
    processes = started(quick_model, ANTIPHON_CLAIM_S="1")
    node = processes.node()
    processes.worker()
    first = node.answered(node.begin())
    async with connected(nats_url, processes.prefix) as cluster:
        await cluster.jetstream.delete_stream(cluster.naming.queries_stream)

    refused = node.client.post("/api/queries", json={"query": "What is it?"})
    waited(lambda: node.client.get("/readyz").status_code, lambda status: status == 503)

    assert first["status"] == "answered"
    assert refused.status_code == 503
