"""With processes killed: queries that are in no queue any more, and queries that every worker takes in vain."""

from __future__ import annotations

import json
import signal
from pathlib import Path

from tests.cluster.conftest import Started
from tests.cluster.processes import is_whole
from tests.e2e.processes import run
from tests.trace_stores import connected


async def test_questions_whose_node_is_killed_and_whose_queue_is_lost_are_answered_by_the_next_worker(
    started: Started, nats_url: str, quick_model: str
) -> None:
    processes = started(quick_model, ANTIPHON_CLAIM_S="1")
    asked = processes.node()
    begun = [asked.begin(), asked.begin()]
    # A living node would answer them itself at their deadlines.
    asked.process.kill()
    # Without the queue, only the stored traces still show that these questions wait.
    async with connected(nats_url, processes.prefix) as cluster:
        await cluster.jetstream.delete_stream(cluster.naming.queries_stream)

    processes.worker()
    node = processes.node()
    states = [node.answered(query_id) for query_id in begun]

    assert [state["status"] for state in states] == ["answered", "answered"]
    for query_id in begun:
        assert is_whole(node.events(query_id))
        assert node.kinds(query_id).count("query_resumed") == 1


def test_a_question_whose_workers_were_all_killed_ends_with_the_reason_and_is_listed(
    started: Started, nats_url: str, index: Path, slow_model: str, tmp_path: Path
) -> None:
    processes = started(slow_model, ANTIPHON_CLAIM_S="1", ANTIPHON_MOST_CLAIMS="2")
    node = processes.node()
    first = processes.worker()
    others = [processes.spare(), processes.spare()]
    query_id = node.begin()
    node.after(query_id, "reasoning_started")
    first.kill()
    others[0].signal(signal.SIGCONT)
    node.after(query_id, "reasoning_started", 2)
    others[0].kill()
    others[1].signal(signal.SIGCONT)

    state = node.answered(query_id)
    shown = run(
        *("queue", "--json"),
        data_dir=index,
        folder=tmp_path,
        ANTIPHON_NATS_URL=nats_url,
        ANTIPHON_NATS_PREFIX=processes.prefix,
    )

    assert state["status"] == "cancelled"
    assert "it was given up: 2 times a worker took it" in state["answer"]["answer"]
    assert is_whole(node.events(query_id))
    queue = json.loads(shown.stdout)
    assert (queue["waiting"], queue["claimed"]) == (0, 0)
    [dead] = queue["dead"]
    assert (dead["query_id"], dead["deliveries"]) == (query_id, 2)
