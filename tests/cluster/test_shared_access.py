"""Keys, limits and spending, shared by two nodes with separate folders, as on two machines."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cluster.processes import Node, cluster, is_whole, waited
from tests.e2e.conftest import without_traces
from tests.e2e.processes import run

QUESTION = {"query": "What is applemailbox7?"}
PREFIX = "access"


def asked(node: Node) -> int:
    return node.client.post("/api/queries", json=QUESTION).status_code


def copied(index: Path, folder: Path) -> Path:
    folder.mkdir()
    return without_traces(index, folder)


def test_a_key_of_one_node_is_known_to_all_and_its_limits_hold_over_them_together(
    nats_url: str, index: Path, quick_model: str, tmp_path: Path
) -> None:
    folders = [tmp_path / name for name in ("first", "second")]
    data_dirs = [copied(index, folder) for folder in folders]
    named = {"ANTIPHON_NATS_PREFIX": PREFIX}
    made = run(
        *("keys", "add", "web", "--tenant", "acme", "--scope", "ask", "--scope", "debug"),
        *("--at-once", "1", "--requests", "2"),
        data_dir=data_dirs[0],
        folder=tmp_path,
    )  # fmt: skip
    with (
        cluster(nats_url, data_dirs[0], quick_model, **named) as here,
        cluster(nats_url, data_dirs[1], quick_model, **named) as there,
    ):
        nodes = [here.node(), there.node()]
        without = asked(nodes[1])
        for node in nodes:
            node.client.headers["x-api-key"] = made.stdout.strip()
        begun = nodes[0].begin()
        beside = nodes[1].client.post("/api/queries", json=QUESTION)
        there.worker()
        nodes[1].answered(begun)
        # The other node admitted the query, and this one counts it a moment later.
        waited(lambda: asked(nodes[1]), lambda status: status == 202)
        waited(
            lambda: nodes[0].client.get("/api/usage").json()["shares"][0],
            lambda share: share["at_once"] == 0,
        )
        used_up = nodes[0].client.post("/api/queries", json=QUESTION)
        shown = run(
            *("keys", "usage", "--json"),
            data_dir=data_dirs[1],
            folder=tmp_path,
            ANTIPHON_NATS_URL=nats_url,
            ANTIPHON_NATS_PREFIX=PREFIX,
        )
        whole = is_whole(nodes[0].events(begun))
        revoked = run(
            *("keys", "revoke", "web"),
            data_dir=data_dirs[1],
            folder=tmp_path,
            ANTIPHON_NATS_URL=nats_url,
            ANTIPHON_NATS_PREFIX=PREFIX,
        )
        waited(lambda: asked(nodes[0]), lambda status: status == 401)

    assert without == 401
    assert beside.status_code == 429
    assert "1 queries under way at once, and has 1" in beside.json()["error"]["message"]
    assert "2 requests a day" in used_up.json()["error"]["message"]
    [key, tenant] = json.loads(shown.stdout)
    assert (key["used"]["requests"], tenant["used"]["requests"]) == (2, 2)
    assert whole
    assert revoked.returncode == 0, revoked.stderr
